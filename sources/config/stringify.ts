/** The text of a shared file: two spaces, a line end, no absent field, nothing but `names` at the top, in that order. */
export function stringifyOrdered(value: object, names: ReadonlyArray<string>): string {
  return `${JSON.stringify(pickOrdered(value, names), replaceLoneSurrogates, 2)}\n`
}

/** A copy with the named fields in the given order; null and undefined mean absent. */
export function pickOrdered(value: object, names: ReadonlyArray<string>): Record<string, unknown> {
  const fields = new Map<string, unknown>(Object.entries(value))
  return Object.fromEntries(
    names
      .map((name) => [name, fields.get(name)])
      .filter(([, field]) => field !== undefined && field !== null),
  )
}

/** The Rust program refuses the escapes that JSON.stringify writes for them. */
function replaceLoneSurrogates(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value
}
