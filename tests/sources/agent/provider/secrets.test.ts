import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import type { Reply } from '../../../../fixtures/provider/server.mjs'
import { cleanText } from '../../../../sources/agent/provider/cleanText.ts'
import { parseKey } from '../../../../sources/agent/provider/endpoint.ts'
import { listModels } from '../../../../sources/agent/provider/listModels.ts'
import { noProxies } from '../../../../sources/agent/provider/proxies.ts'
import { makeTestModel, rejection, startScripted } from './_provider.ts'

const key = 'plain"key/0123456789'
const says = `Incorrect API key: ${key}. Header was 'Bearer ${key}'.`

describe('a key', () => {
  const replies: Readonly<Record<string, Reply>> = {
    'in a refusal': {
      status: 401,
      headers: { 'x-request-id': key },
      body: { error: { message: says, code: key } },
    },
    'in a refusal of plain text': { status: 400, body: says },
    'in a temporary refusal': { status: 503, body: says },
    'in an error event': { steps: [{ error: { message: says, code: key } }] },
    'in a web page': { status: 200, body: `<html>${says}</html>`, headers: { 'content-type': 'text/html' } },
    'in broken JSON': { steps: [{ raw: `data: ${key}\n\n` }] },
  }

  test.for(Object.entries(replies))('that comes back %s is never shown', async ([, reply]) => {
    const output = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'log')]
    const { url } = await startScripted({ fallback: reply })
    const { ask, events } = makeTestModel(url, { key, maxRetries: 1 })
    const caught = await rejection(ask())
    const shown = `${inspect(caught, { depth: 9, showHidden: true })}${JSON.stringify(events)}`
    expect(shown).not.toContain(key)
    expect(shown).not.toContain('0123456789')
    expect(output.flatMap((spy) => spy.mock.calls)).toEqual([])
  })

  test('is never shown by a list of models that fails', async () => {
    const { url } = await startScripted({ fallback: 'x' })
    const options = {
      baseUrl: `${url}/wrong${encodeURIComponent(key)}/x?y`,
      key,
      timeoutMs: 1000,
      proxies: noProxies,
    }
    const { signal } = new AbortController()
    const listed = await listModels({ ...options, userAgent: 'cass/test', signal }).catch(
      (error: unknown) => error,
    )
    expect(inspect(listed, { depth: 9 })).not.toContain('0123456789')
  })

  test('that no header can hold is refused without being shown', async () => {
    const caught = await rejection((async () => parseKey('secret-0123\nX-Other: 1'))())
    expect(caught).toMatchObject({ code: 'provider_auth' })
    expect(inspect(caught, { depth: 9 })).not.toContain('secret-0123')
  })
})

describe('text of a provider', () => {
  test.for([
    ['control characters', 'a\u001b[31mb\u0000c\r\nd\u202ee', 'a [31mb c d e'],
    ['half a character', 'a\ud83cb', 'a\ufffdb'],
    ['a bearer token', 'got Bearer abc.def-ghi', 'got Bearer [redacted]'],
    ['a header', 'authorization: Basic bWU6aGlkZGVu', 'authorization: Basic [redacted]'],
    ['no talk of tokens', 'a bearer token is needed', 'a bearer token is needed'],
    ['a masked key', 'key sk-proj-abc***xyz is wrong', 'key [redacted] is wrong'],
    ['a key with its name', 'api_key="abcdefgh12345"', 'api_key="[redacted]"'],
    ['a web token', 'x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abc y', 'x [redacted] y'],
    ['the key itself', 'the key my+secret/key is wrong', 'the key [redacted] is wrong'],
    ['the key in a URL', '/x?k=my%2Bsecret%2Fkey&y', '/x?k=[redacted]&y'],
    [
      'ordinary words',
      "the model 'task-solver-1' has no basic support",
      "the model 'task-solver-1' has no basic support",
    ],
  ] as const)('is cleaned of %s', ([, text, clean]) => {
    expect(cleanText(text, 'my+secret/key')).toBe(clean)
  })

  test('is shortened, after it was cleaned', () => {
    const clean = cleanText(`${'x'.repeat(395)} my+secret/key`, 'my+secret/key')
    expect(clean).toHaveLength(401)
    expect(clean).not.toContain('my+')
  })

  test('keeps the words that a placeholder for a key is made of', () => {
    expect(cleanText('xxx model', 'x')).toBe('xxx model')
  })
})
