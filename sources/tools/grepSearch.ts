/** What is looked for and where; the same for every engine. */
export interface GrepSearch {
  readonly query: string
  readonly isRegex: boolean
  readonly isCaseSensitive: boolean
  readonly contextLines: number
  /** Canonical files and folders, sorted, none twice. */
  readonly roots: ReadonlyArray<string>
  /** The folder of cass: left out below a root. */
  readonly closedFolder: string
  /** No more than one match above this is needed of a file. */
  readonly mostMatches: number
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
}

export interface GrepLine {
  readonly text: string
  readonly isMatch: boolean
}

/** The matching lines of one file, and those around them, by line number in ascending order. */
export interface GrepFile {
  readonly path: Buffer
  readonly lines: ReadonlyMap<number, GrepLine>
}

/**
 * Gives the files with matches in the order of their paths. Binary files are left out. Stops its work when the
 * generator is ended. Throws a `ToolFailure` for a regular expression that it does not accept.
 */
export type GrepEngine = (search: GrepSearch, signal: AbortSignal) => AsyncGenerator<GrepFile>

/** Folders that hold what others wrote; they are searched only when a path names them. */
export const skippedNames: ReadonlyArray<string> = ['.git', 'target', 'node_modules', 'vendor', '.cache']

/** A line is looked at for showing no further than this, in bytes. */
export const shownLineBytes = 65_536

const width = 500

/** A line as it is shown: long ones as a window around the match that begins at `at`. */
export function showLine(line: string, at: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  if (text.length <= width) return text
  const start = at < width - 100 || at >= text.length ? 0 : at - 100
  const end = Math.min(text.length, start + width)
  return `${start > 0 ? '…' : ''}${wellFormed(text.slice(start, end))}${end < text.length ? '…' : ''}`
}

// The window may cut a pair of units in two.
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
