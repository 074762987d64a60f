import type { Journal } from './journal.ts'
import { type FileSide, isChange } from './journalLine.ts'

/**
 * The state of a path when the journal had `fs` bytes: behind its last change that ends there or before, else before its
 * first one after that (docs/storage.md, restore). Null for a path without a change.
 */
export function stateAt(journal: Journal, file: string, fs: number): FileSide | null {
  let first: FileSide | null = null
  let last: FileSide | null = null
  for (const { line, end } of journal.lines) {
    if (line.path !== file || !isChange(line) || journal.isVoided(line.id)) continue
    if (end <= fs) last = line.after
    else first ??= line.before
  }
  return last ?? first
}
