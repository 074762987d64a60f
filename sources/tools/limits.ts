/** How much of a result goes to the model and the log. Sizes are in characters unless the name says otherwise. */
export const limits = {
  /** All sections of one `read`, and one `ls`. */
  read: 256 * 1024,
  grep: 128 * 1024,
  /** Each end of an output stream of a shell command; what lies between is left out. */
  shellHead: 48 * 1024,
  shellTail: 48 * 1024,
  /** Live output of a shell command, each stream. */
  shellLive: 1024 * 1024,
  diff: 16 * 1024,
  error: 8 * 1024,
  readLine: 2000,
  grepLine: 500,
  /** A larger file is not searched. */
  grepFileBytes: 64 * 1024 * 1024,
} as const

/** Cuts a text to `limit` characters, whole code points, and says how much is missing. */
export function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text
  const kept = cutAt(text, limit)
  return `${kept}\n… truncated by Cass: ${text.length - kept.length} of ${text.length} characters are not shown`
}

/** Shortens one line for display; the marker says how much is missing. */
export function boundedLine(line: string, limit: number): string {
  if (line.length <= limit) return line
  const kept = cutAt(line, limit)
  return `${kept}… [${line.length - kept.length} more characters]`
}

/** The first `length` UTF-16 units of a text, or one less where that would cut a pair in two. */
export function cutAt(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
