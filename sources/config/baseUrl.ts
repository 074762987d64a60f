/** Why a base URL cannot be used; null when it can. The URL itself is not repeated: it may hold a password. */
export function baseUrlProblem(text: string): string | null {
  if (text.trim() === '') return 'is empty'
  const url = tryParseUrl(text)
  if (url === null) return 'is not a URL'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  return null
}

/** Scheme, host and port: what a key belongs to. Null when the text is no usable base URL. */
export function originOf(text: string): string | null {
  return baseUrlProblem(text) === null ? (tryParseUrl(text)?.origin ?? null) : null
}

/** Whether the URL leads to this machine, where servers mostly want no key. */
export function isLoopback(text: string): boolean {
  const host = tryParseUrl(text)?.hostname ?? ''
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host)
  )
}

/** The URL as it may be shown: without query and user, which can hold secrets. */
export function showUrl(text: string): string {
  const url = baseUrlProblem(text) === null ? tryParseUrl(text) : null
  return url === null ? '<no usable URL>' : `${url.origin}${url.pathname === '/' ? '' : url.pathname}`
}

function tryParseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}
