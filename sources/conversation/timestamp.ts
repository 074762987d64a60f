/**
 * A stored time in milliseconds since 1970; 0 for a text that is none. Other programs write fractions of any length and
 * other offsets, so times are never compared as text.
 */
export function timeOf(text: string): number {
  const parsed = Date.parse(text)
  return Number.isNaN(parsed) ? 0 : parsed
}
