/** Proxy settings as values; an empty string means none. */
export interface Proxies {
  readonly http: string
  readonly https: string
  /** Hosts that are reached directly, separated by commas; `*` for all. */
  readonly none: string
}

/** No proxy at all. */
export const noProxies: Proxies = { http: '', https: '', none: '' }

// Loopback is never behind a proxy, so a local server works also where a proxy is set for everything.
const loopback = ['localhost', '127.0.0.1', '[::1]']

/**
 * Reads the proxy variables from an environment. Lower case wins over upper case, the special ones over
 * `all_proxy`. `HTTP_PROXY` counts too, since this is no CGI program.
 */
export function readProxies(environment: Readonly<Record<string, string | undefined>>): Proxies {
  const first = (...names: ReadonlyArray<string>) =>
    names.map((name) => environment[name]?.trim()).find((value) => value !== undefined && value !== '') ?? ''
  const all = first('all_proxy', 'ALL_PROXY')
  return {
    http: withScheme(first('http_proxy', 'HTTP_PROXY') || all),
    https: withScheme(first('https_proxy', 'HTTPS_PROXY') || all),
    none: first('no_proxy', 'NO_PROXY'),
  }
}

/** The value for a `no_proxy` setting: what the user excludes, and loopback. */
export function formatNoProxy(proxies: Proxies): string {
  if (proxies.none.trim() === '*') return '*'
  return [...proxies.none.split(',').map((host) => host.trim()), ...loopback]
    .filter((host) => host !== '')
    .join(',')
}

/** Many people write `proxy.example:3128`, and other programs take it. */
function withScheme(address: string): string {
  return address === '' || address.includes('://') ? address : `http://${address}`
}
