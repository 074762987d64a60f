import { limits } from './limits.ts'

/** What changed in a file, for the model and for people. */
export interface TextDiff {
  readonly text: string
  readonly added: number
  readonly removed: number
}

/** Long enough for any usual edit; the time of a diff grows with the square of what differs. */
const mostMilliseconds = 200

/** A unified diff with three lines around each change, bounded in time and size. */
export async function diffTexts(path: string, before: string, after: string): Promise<TextDiff> {
  // Loaded here, since most runs of the program make no diff.
  const { structuredPatch } = await import('diff')
  const options = { context: 3, timeout: mostMilliseconds }
  const patch = structuredPatch(
    `${path} before`,
    `${path} after`,
    before,
    after,
    undefined,
    undefined,
    options,
  )
  if (patch === undefined) {
    const [removed, added] = [countLines(before), countLines(after)]
    return { added, removed, text: `the file was replaced: the two versions differ too much for a diff\n` }
  }
  let added = 0
  let removed = 0
  const lines = [`--- ${path} before`, `+++ ${path} after`]
  for (const { oldStart, oldLines, newStart, newLines, lines: changed } of patch.hunks) {
    lines.push(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`)
    for (const line of changed) {
      if (line.startsWith('+')) added += 1
      if (line.startsWith('-')) removed += 1
      lines.push(line.endsWith('\r') ? line.slice(0, -1) : line)
    }
  }
  return { added, removed, text: boundLines(lines) }
}

/** Lines as people count them: a line end at the end of the text begins no new one. */
export function countLines(text: string): number {
  if (text === '') return 0
  let lines = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

function boundLines(lines: ReadonlyArray<string>): string {
  let size = 0
  for (const [index, line] of lines.entries()) {
    size += line.length + 1
    if (size <= limits.diff) continue
    const kept = lines.slice(0, index).map((each) => `${each}\n`)
    return `${kept.join('')}… diff truncated by Cass: ${lines.length - index} of ${lines.length} lines are not shown\n`
  }
  return `${lines.join('\n')}\n`
}
