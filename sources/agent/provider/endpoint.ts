import { baseUrlProblem } from '../../config/baseUrl.ts'
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
  const problem = baseUrlProblem(baseUrl)
  if (problem !== null) {
    throw new ProviderError('provider_bad_request', `the base URL of the provider ${problem}`, {
      hint: "set 'base_url' in providers.json to an address such as 'https://api.example.com/v1'",
      data: {},
      partial: null,
    })
  }
  const url = new URL(baseUrl)
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
  if (/^[\x20-\x7e]+$/.test(clean)) return clean
  throw new ProviderError('provider_auth', "the provider's key holds characters that cannot be sent", {
    hint: "check the provider's 'api_key' in providers.json or the variable it names",
    data: {},
    partial: null,
  })
}
