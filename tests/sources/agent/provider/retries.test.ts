import { describe, expect, test } from 'vitest'
import { ProviderError } from '../../../../sources/agent/provider/errors.ts'
import { makeTestModel, rejection, startScripted } from './_provider.ts'

const limited = (headers: Record<string, string> = {}) => ({
  status: 429,
  headers,
  body: { error: { message: 'slow down' } },
})

describe('retries', () => {
  test('wait twice as long each time, and tell the user', async () => {
    const provider = await startScripted([limited(), { status: 503 }, { drop: true }, 'Hello'])
    const { ask, waits, texts } = makeTestModel(provider.url)
    expect(await ask()).toMatchObject({ text: 'Hello' })
    expect(waits).toEqual([500, 1000, 2000])
    expect(texts('status')[0]).toBe(
      `provider '127.0.0.1:${provider.port}' is limiting requests (429): slow down; trying again in 0.5 s (retry 1 of 4)`,
    )
    expect(texts('status')).toHaveLength(3)
    expect(provider.chats).toHaveLength(4)
  })

  test('are spread by chance down to half the wait', async () => {
    const { url } = await startScripted([limited(), limited(), 'Hello'])
    const { ask, waits } = makeTestModel(url, { random: () => 0 })
    await ask()
    expect(waits).toEqual([250, 500])
  })

  test.for([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9000],
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
    ['a date that is over', { 'retry-after': 'Thu, 01 Jan 2020 00:00:00 GMT' }, 0],
    ['more than the longest wait', { 'retry-after': '90' }, 60_000],
    ['nonsense', { 'retry-after': 'soon' }, 500],
  ] as const)('wait as long as the provider asks: %s', async ([, headers, waitMs]) => {
    const { url } = await startScripted([limited(headers), 'Hello'])
    const { ask, waits, texts } = makeTestModel(url)
    expect(await ask()).toMatchObject({ text: 'Hello' })
    expect(waits).toEqual([waitMs])
    expect(texts('status')).toHaveLength(1)
  })

  test('say in the status that the provider asked for the wait', async () => {
    const { url } = await startScripted([limited({ 'retry-after': '7' }), 'Hello'])
    const { ask, texts } = makeTestModel(url)
    await ask()
    expect(texts('status')[0]).toMatch(/; trying again in 7 s, as it asked \(retry 1 of 4\)$/)
  })

  test('are not made when the provider asks for hours', async () => {
    const provider = await startScripted([limited({ 'retry-after': '3600' })])
    const { ask, waits } = makeTestModel(provider.url)
    expect(await rejection(ask())).toMatchObject({ code: 'provider_rate_limit' })
    expect({ waits, requests: provider.chats.length }).toEqual({ waits: [], requests: 1 })
  })

  test('are not made when the setting is 0', async () => {
    const provider = await startScripted([limited(), 'Hello'])
    expect(await rejection(makeTestModel(provider.url, { maxRetries: 0 }).ask())).toBeInstanceOf(
      ProviderError,
    )
    expect(provider.chats).toHaveLength(1)
  })

  test('are not made once reasoning was shown', async () => {
    const provider = await startScripted([{ steps: [{ reasoning: 'hm' }, { act: 'drop' }] }, 'Hello'])
    expect(await rejection(makeTestModel(provider.url).ask())).toMatchObject({
      code: 'provider_cut_stream',
      partial: { text: '', reasoning: 'hm' },
    })
  })

  test('begin the answer anew when only pieces of a call had come', async () => {
    const call = { id: 'a', name: 'read', arguments: '{"path": "a' }
    const { url } = await startScripted([{ steps: [{ calls: [call] }, { act: 'drop' }] }, 'Hello'])
    expect(await makeTestModel(url).ask()).toMatchObject({ text: 'Hello', tool_calls: [] })
  })
})

describe('stream_options', () => {
  test('are left out for a server that refuses them, from then on', async () => {
    const provider = await startScripted({ refuse: ['stream_options'], fallback: 'Hello' })
    const { ask, waits } = makeTestModel(provider.url)
    expect(await ask()).toMatchObject({ text: 'Hello' })
    expect(await ask()).toMatchObject({ text: 'Hello' })
    expect(provider.chats.map(({ body }) => body.stream_options)).toEqual([
      { include_usage: true },
      undefined,
      undefined,
    ])
    expect(waits).toEqual([])
  })

  test('that are refused twice are a bad request', async () => {
    const reply = { status: 400, body: { error: { message: 'stream_options: no' } } }
    const provider = await startScripted({ fallback: reply })
    expect(await rejection(makeTestModel(provider.url).ask())).toMatchObject({ code: 'provider_bad_request' })
    expect(provider.chats).toHaveLength(2)
  })
})
