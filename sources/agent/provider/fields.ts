/** A JSON object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>

/** The value as a JSON object; null for anything else. */
export function tryParseFields(value: unknown): Fields | null {
  return isFields(value) ? value : null
}

/** The value as a string; empty for anything else. */
export function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The text of a message's content: a string, or its text parts in a row. */
export function readContent(content: unknown): string {
  if (!Array.isArray(content)) return readText(content)
  return content.map((part: unknown) => readText(tryParseFields(part)?.text)).join('')
}

/** The value of a JSON text; undefined when it is none. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Callers ask whether it is JSON at all.
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
