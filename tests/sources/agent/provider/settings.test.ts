import { describe, expect, test } from 'vitest'
import { parseEndpoint } from '../../../../sources/agent/provider/endpoint.ts'
import { formatNoProxy, readProxies } from '../../../../sources/agent/provider/proxies.ts'

describe('a base URL', () => {
  test.for([
    ['https://api.example.com/v1', 'https://api.example.com/v1'],
    ['https://api.example.com/v1///', 'https://api.example.com/v1'],
    [' https://api.example.com/v1/chat/completions ', 'https://api.example.com/v1'],
    ['http://localhost:11434', 'http://localhost:11434'],
    ['http://[::1]:8080/v1', 'http://[::1]:8080/v1'],
  ] as const)('%s has the root %s', ([baseUrl, root]) => {
    expect(parseEndpoint(baseUrl)).toEqual({ root, host: new URL(root).host, query: {} })
  })

  test.for(['', 'api.example.com/v1', 'ftp://x/v1', 'https://'])('%j is refused', (baseUrl) => {
    expect(() => parseEndpoint(baseUrl)).toThrow(
      /^the base URL of the provider (is empty|is not a URL|must start with http)/,
    )
  })

  test('with a password is refused, and does not show it', () => {
    expect(() => parseEndpoint('https://me:hidden@x.test/v1')).toThrow(
      /^(?!.*hidden).*user name or password$/,
    )
  })
})

describe('the proxy variables', () => {
  test.for([
    [{}, { http: '', https: '', none: '' }],
    [
      { HTTP_PROXY: 'http://a', HTTPS_PROXY: 'http://b', NO_PROXY: 'x' },
      { http: 'http://a', https: 'http://b', none: 'x' },
    ],
    [
      { http_proxy: 'http://c', HTTP_PROXY: 'http://a' },
      { http: 'http://c', https: '', none: '' },
    ],
    [{ https_proxy: 'p.test:3128' }, { http: '', https: 'http://p.test:3128', none: '' }],
    [
      { http_proxy: '', ALL_PROXY: 'http://d', https_proxy: 'http://e' },
      { http: 'http://d', https: 'http://e', none: '' },
    ],
  ] as const)('%j are read as %j', ([environment, proxies]) => {
    expect(readProxies(environment)).toEqual(proxies)
  })

  test('never send this machine through a proxy', () => {
    expect(formatNoProxy({ http: 'x', https: '', none: ' a.test, ,b.test' })).toBe(
      'a.test,b.test,localhost,127.0.0.1,[::1]',
    )
    expect(formatNoProxy({ http: 'x', https: '', none: '*' })).toBe('*')
  })
})
