/** The first line of a text that is not blank, cut to `limit` characters; '' when there is none. */
export function firstLine(text: string, limit: number): string {
  const line = text.split('\n', 50).find((each) => each.trim() !== '')
  return [...(line ?? '').trim()].slice(0, limit).join('')
}
