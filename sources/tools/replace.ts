import { describeNearest } from './nearest.ts'
import { ToolFailure } from './outcome.ts'

export interface Replacement {
  readonly old_text: string
  readonly new_text: string
}

interface Span {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Makes all replacements in a text. Each old text must stand there exactly once, also counting places that overlap,
 * and no two replacements may overlap. Line ends may be given as LF: they match CRLF, and what is put in takes
 * the line ends of its place. Throws a `ToolFailure` that says what to do, and then nothing is replaced.
 */
export function replaceAll(text: string, edits: ReadonlyArray<Replacement>): string {
  const plain = new PlainLineEnds(text)
  const spans = edits.map((edit, index) => {
    const name = edits.length === 1 ? '' : `edits[${index}]: `
    return findSpan(plain, edit, name)
  })
  spans.sort((a, b) => a.start - b.start || a.end - b.end)
  for (const [index, span] of spans.entries()) {
    const next = spans[index + 1]
    if (next !== undefined && next.start < span.end)
      throw new ToolFailure('edits overlap; no changes written')
  }
  let result = ''
  let at = 0
  for (const { start, end, text: put } of spans) {
    result += text.slice(at, start) + put
    at = end
  }
  return result + text.slice(at)
}

function findSpan(plain: PlainLineEnds, { old_text: old, new_text: put }: Replacement, name: string): Span {
  if (old === '') throw new ToolFailure(`${name}old_text must not be empty; use write for a new file`)
  // Somebody who writes CRLF means bytes; only if they are not there it is taken for a habit.
  const exact = old.includes('\r') ? occurrences(plain.original, old) : []
  if (exact.length > 0) {
    const [start = 0] = only(exact, old, name, plain.original)
    return { start, end: start + old.length, text: put }
  }
  const wanted = old.replaceAll('\r\n', '\n')
  const found = occurrences(plain.text, wanted)
  if (found.length === 0) {
    const nearest = describeNearest(plain.text, wanted)
    throw new ToolFailure(`${name}old_text not found: ${preview(old)}\n${nearest}`)
  }
  const [at = 0] = only(found, old, name, plain.text)
  const start = plain.toOriginal(at)
  const end = plain.toOriginal(at + wanted.length)
  const unified = old.includes('\r') ? put.replaceAll('\r\n', '\n') : put
  return { start, end, text: plain.hasCrlfAt(start, end) ? withCrlf(unified) : unified }
}

function only(found: ReadonlyArray<number>, old: string, name: string, text: string): ReadonlyArray<number> {
  if (found.length === 1) return found
  const lines = found.slice(0, 10).map((at) => lineNumber(text, at))
  const more = found.length > 10 ? ' and more' : ''
  throw new ToolFailure(
    `${name}old_text is not unique: ${preview(old)}\n` +
      `it begins at lines ${lines.join(', ')}${more}; add lines around it until it is the only one`,
  )
}

/** Every place where `part` begins, also those that overlap; more than a handful are not needed. */
function occurrences(text: string, part: string): ReadonlyArray<number> {
  const found: number[] = []
  for (let at = text.indexOf(part); at !== -1 && found.length <= 10; at = text.indexOf(part, at + 1))
    found.push(at)
  return found
}

function lineNumber(text: string, at: number): number {
  let line = 1
  for (let next = text.indexOf('\n'); next !== -1 && next < at; next = text.indexOf('\n', next + 1)) line += 1
  return line
}

function withCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n')
}

function preview(text: string): string {
  return JSON.stringify([...text].slice(0, 80).join(''))
}

/** A text with each CRLF as LF, which knows where its places are in the original. */
class PlainLineEnds {
  readonly original: string
  readonly text: string
  // Where in `text` those line feeds are that had a carriage return in front of them, ascending.
  private readonly removed: number[] = []

  constructor(original: string) {
    this.original = original
    for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2)) {
      this.removed.push(at - this.removed.length)
    }
    this.text = this.removed.length === 0 ? original : original.replaceAll('\r\n', '\n')
  }

  /** A place in front of a line end is in front of its carriage return. */
  toOriginal(at: number): number {
    let low = 0
    let high = this.removed.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.removed[middle] ?? 0) < at) low = middle + 1
      else high = middle
    }
    return at + low
  }

  /** Which line ends belong at a span: its own, else that of its line, else that of the line before. */
  hasCrlfAt(start: number, end: number): boolean {
    const own = this.original.indexOf('\n', start)
    const last = own === -1 ? this.original.lastIndexOf('\n', Math.max(start - 1, 0)) : own
    // With several inside, a single bare LF among them means that LF is meant.
    if (own !== -1 && own < end) return !/(^|[^\r])\n/.test(this.original.slice(start, end))
    return last > 0 && this.original.charAt(last - 1) === '\r'
  }
}
