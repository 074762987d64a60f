import { ProviderError } from './errors.ts'

/** Where a provider listens. */
export interface Endpoint {
  /** Without a trailing slash and without `/chat/completions`. */
  readonly root: string
  /** Host and port: the provider's name in messages. */
  readonly host: string
  /** The query of the base URL, sent with each request (some gateways need an API version there). */
  readonly query: Readonly<Record<string, string>>
}

/** Reads a base URL: the API's root or its full `…/chat/completions` address. Throws a `ProviderError`. */
export function parseEndpoint(baseUrl: string): Endpoint {
  const url = tryParseUrl(baseUrl.trim())
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refuse(
      'the base URL of the provider is not an http or https address',
      baseUrl.includes('@') ? null : baseUrl,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('the base URL of the provider holds a user name or password', null)
  }
  const path = url.pathname
    .replace(/\/+$/, '')
    .replace(/\/chat\/completions$/, '')
    .replace(/\/+$/, '')
  return { root: `${url.origin}${path}`, host: url.host, query: Object.fromEntries(url.searchParams) }
}

/**
 * Reads a key: blanks around it are cut off, an empty one is none. Throws for a key that no header can hold,
 * since the network library would show it in its own error.
 */
export function parseKey(key: string | null): string | null {
  const clean = key?.trim() ?? ''
  if (clean === '') return null
  if (/^[\x21-\x7e]+$/.test(clean)) return clean
  throw new ProviderError(
    'provider_auth',
    "the provider's key holds blanks or characters that cannot be sent",
    {
      hint: "check the provider's 'api_key' in providers.json or the variable it names",
      data: {},
      partial: null,
    },
  )
}

function tryParseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}

function refuse(what: string, baseUrl: string | null): ProviderError {
  return new ProviderError(
    'provider_bad_request',
    baseUrl === null ? what : `${what}: '${baseUrl.slice(0, 200)}'`,
    {
      hint: "set 'base_url' in providers.json to an address such as 'https://api.example.com/v1', and the key to 'api_key'",
      data: {},
      partial: null,
    },
  )
}
