import { boundedLine } from './limits.ts'

const mostLines = 12
const mostWidth = 200

/** Tells the model which text of a file is most like the one that was not found. Bounded in size and time. */
export function describeNearest(text: string, wanted: string): string {
  const lines = text.split('\n')
  const asked = wanted.split('\n')
  const start = findNearest(lines, asked)
  if (start === null) return 'nothing in the file is like it; read the file again'
  const count = Math.min(asked.length, mostLines)
  const shown = lines.slice(start, start + count)
  const numbered = shown.map(
    (line, index) => `${String(start + 1 + index).padStart(6)} | ${boundedLine(line, mostWidth)}`,
  )
  const isOnlyBlank = squeeze(lines.slice(start, start + asked.length).join('\n')) === squeeze(wanted)
  const reason = isOnlyBlank ? ' (only white space differs)' : ''
  const more = asked.length > count ? ['  …'] : []
  return [
    `the nearest text, lines ${start + 1}-${start + shown.length}${reason}:`,
    ...numbered,
    ...more,
  ].join('\n')
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** The index of the line where the most similar block begins; null when nothing is similar enough. */
function findNearest(lines: ReadonlyArray<string>, asked: ReadonlyArray<string>): number | null {
  const votes = new Map<number, number>()
  const places = new Map<string, number[]>()
  for (const [index, line] of lines.entries()) {
    const key = squeeze(line)
    if (key.length < 3) continue
    const known = places.get(key)
    if (known === undefined) places.set(key, [index])
    // A line that stands everywhere says little about the place.
    else if (known.length < 20) known.push(index)
  }
  for (const [index, line] of asked.slice(0, 200).entries()) {
    const key = squeeze(line)
    for (const place of places.get(key) ?? []) {
      const start = place - index
      if (start >= 0) votes.set(start, (votes.get(start) ?? 0) + key.length)
    }
  }
  const best = [...votes].reduce((top, each) => (each[1] > top[1] ? each : top), [-1, 0])
  return best[0] >= 0 ? best[0] : findSimilarLine(lines, asked)
}

/** Without one equal line: the line most similar to the longest one that was asked for. */
function findSimilarLine(lines: ReadonlyArray<string>, asked: ReadonlyArray<string>): number | null {
  const longest = asked.slice(0, 200).reduce((top, line, index) => {
    return squeeze(line).length > squeeze(asked[top] ?? '').length ? index : top
  }, 0)
  const pairs = pairsOf(squeeze(asked[longest] ?? ''))
  if (pairs.size === 0) return null
  let best = { index: -1, score: 0.4 }
  for (const [index, line] of lines.slice(0, 20_000).entries()) {
    const score = similarity(pairs, pairsOf(squeeze(line.slice(0, 500))))
    if (score > best.score) best = { index, score }
  }
  return best.index === -1 ? null : Math.max(0, best.index - longest)
}

function pairsOf(text: string): ReadonlySet<string> {
  const pairs = new Set<string>()
  for (let at = 0; at + 1 < Math.min(text.length, 300); at += 1)
    pairs.add(text.slice(at, at + 2).toLowerCase())
  return pairs
}

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (b.size === 0) return 0
  let shared = 0
  for (const pair of a) if (b.has(pair)) shared += 1
  return (2 * shared) / (a.size + b.size)
}
