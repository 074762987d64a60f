/**
 * Whether a line that is no entry is the beginning of one whose append was cut (a full disk, a lost power) and was then
 * made again, or given up by a writer that did not go on: so nothing that was acknowledged. `next` is the line behind it,
 * or its beginning; `hasMessage` tells whether a message is in the log.
 */
export function isTornAppend(
  line: string,
  { next, hasMessage }: { readonly next: string; readonly hasMessage: (id: string) => boolean },
): boolean {
  if (!isCutObject(line)) return false
  const torn = readNames(line)
  if (torn.id !== null && hasMessage(torn.id)) return true
  const following = readNames(next)
  if (following.writer === null) return false
  // Cut before the names: an acknowledged line would be followed by one that names the same writer whole.
  if (torn.writer === null) return line.length < shortestNames && next.startsWith(line.slice(0, firstKeys))
  if (torn.writer !== following.writer) return true
  if (torn.turn !== null && torn.turn !== following.turn) return false
  return following.type === 'turn_begin' || (torn.type === following.type && torn.id === following.id)
}

/** `{"schema_version":2,"type":"` stands at the beginning of every line. */
const firstKeys = 28
/** A line that is cut before its writer is named whole is shorter than this. */
const shortestNames = 300

interface Names {
  readonly type: string | null
  readonly id: string | null
  readonly turn: string | null
  readonly writer: string | null
}

// The header keys come first; what a message says comes behind `msgs`.
function readNames(line: string): Names {
  const header = line.split(',"msgs":[', 1)[0] ?? ''
  const read = (key: string) => new RegExp(`[{,]"${key}":"([^"\\\\]*)"`).exec(header)?.[1] ?? null
  return { type: read('type'), id: read('id'), turn: read('turn'), writer: read('writer') }
}

/** Whether a text is the beginning of a JSON object, and not all of it. */
function isCutObject(text: string): boolean {
  if (!text.startsWith('{')) return false
  let depth = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isInText) {
      if (character === '\\') at += 1
      else if (character === '"') isInText = false
    } else if (character === '"') isInText = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) return false
    }
  }
  return true
}
