/**
 * JSON on one line in which lone surrogates became U+FFFD: `JSON.stringify` writes them as escapes that strict
 * parsers (serde) refuse.
 */
export function stringifyJson(value: unknown): string {
  const text = JSON.stringify(value)
  // `JSON.stringify` escapes a surrogate only when it is alone, so most text has none to look at.
  if (!text.includes('\\ud')) return text
  // Escaped backslashes are matched too, so that none of them is taken for the start of such an escape.
  return text.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (found) => (found === '\\\\' ? found : '\ufffd'))
}

/** A text in which lone surrogates became U+FFFD. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** The value of a JSON text, or undefined when it is none (JSON itself has no undefined). */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON is an answer here, not a failure: the callers say what it means.
    return undefined
  }
}

/** Whether a value is a JSON object: neither an array nor null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text of one line's bytes, or null when they are not UTF-8 or hold a NUL: such a line is a hole. */
export function tryDecodeLine(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // The only error `decode` has here is bad UTF-8.
    return null
  }
}

/** Deeper values overflow the stack of whoever writes them, and serde refuses them, and with them the line. */
const MAX_DEPTH = 100

/** Whether a value is nested deeper than it can be stored. Looks level by level, so any depth is safe to ask about. */
export function isTooDeep(value: unknown): boolean {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
    if (level.length === 0) return false
  }
  return true
}
