import { describe, expect, test } from 'vitest'
import type { Script } from '../../../../fixtures/provider/server.mjs'
import { startProvider } from '../../../../fixtures/provider/server.mjs'
import { listModels } from '../../../../sources/agent/provider/listModels.ts'
import { noProxies } from '../../../../sources/agent/provider/proxies.ts'
import { rejection, startScripted } from './_provider.ts'

const options = { key: 'sk-test-0123456789', timeoutMs: 2000, proxies: noProxies, userAgent: 'cass/test' }
const list = (baseUrl: string, signal = new AbortController().signal) =>
  listModels({ ...options, baseUrl, signal })

describe('the list of models', () => {
  test('has the ids in the order of the provider, without blank ones', async () => {
    const provider = await startScripted({ models: ['b', ' a ', '', 'c'] })
    expect(await list(`${provider.url}/chat/completions`)).toEqual(['b', 'a', 'c'])
    expect(provider.requests).toMatchObject([
      { method: 'GET', path: '/v1/models', headers: { authorization: 'Bearer sk-test-0123456789' } },
    ])
  })

  test.for([
    ['a refusal', { status: 401, body: { error: { message: 'no' } } }, 'provider_auth'],
    ['an address without models', { status: 404, body: 'nothing here' }, 'provider_not_found'],
    [
      'a web page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' },
      'provider_bad_answer',
    ],
    ['something else', { status: 200, body: { models: 3 } }, 'provider_bad_answer'],
    ['silence', { hang: true }, 'provider_timeout'],
  ] as const)('is an error of its class for %s', async ([, reply, code]) => {
    const script: Script = { modelsReply: { ...reply } }
    const { url } = await startScripted(script)
    const { signal } = new AbortController()
    const timeoutMs = code === 'provider_timeout' ? 100 : 2000
    expect(await rejection(listModels({ ...options, timeoutMs, baseUrl: url, signal }))).toMatchObject({
      code,
    })
  })

  test('is an error when nothing listens there', async () => {
    const provider = await startProvider()
    await provider.close()
    expect(await rejection(list(provider.url))).toMatchObject({ code: 'provider_refused_connection' })
  })

  test('can be aborted', async () => {
    const provider = await startScripted({ modelsReply: { hang: true } })
    const user = new AbortController()
    const listed = rejection(list(provider.url, user.signal))
    await provider.waitForRequests(1)
    user.abort(new Error('enough'))
    expect(await listed).toMatchObject({ message: 'enough' })
  })
})
