import { describe, expect, test } from 'vitest'
import type { Reply } from '../../../../fixtures/provider/server.mjs'
import { ProviderError, type ProviderErrorCode } from '../../../../sources/agent/provider/errors.ts'
import { makeTestModel, rejection, startScripted } from './_provider.ts'

interface Row {
  readonly reply: Reply
  readonly code: ProviderErrorCode
  /** What the message says behind the provider's name. */
  readonly says: RegExp
  readonly partial?: string
  /** Requests that arrive at the server with two retries allowed. */
  readonly requests: number
}

const error = (status: number, message: string, code: string | null = null): Reply => ({
  status,
  body: { error: { message, code } },
})
const html = '<!doctype html><html><head><title>Sign in</title></head><body>portal</body></html>'

const rows: Readonly<Record<string, Row>> = {
  'a wrong key': {
    reply: error(401, 'Incorrect API key provided'),
    code: 'provider_auth',
    says: /refused the key \(401\): Incorrect API key provided$/,
    requests: 1,
  },
  'a key without permission': {
    reply: error(403, 'no access'),
    code: 'provider_auth',
    says: /403/,
    requests: 1,
  },
  'a limit on requests': {
    reply: error(429, 'slow down'),
    code: 'provider_rate_limit',
    says: /is limiting requests \(429\): slow down \(tried 3 times\)$/,
    requests: 3,
  },
  'no credit': {
    reply: error(429, 'You exceeded your current quota', 'insufficient_quota'),
    code: 'provider_rate_limit',
    says: /no credit left/,
    requests: 1,
  },
  'payment required': {
    reply: error(402, 'pay'),
    code: 'provider_rate_limit',
    says: /no credit left/,
    requests: 1,
  },
  'a context that is too long, by code': {
    reply: error(400, 'too much', 'context_length_exceeded'),
    code: 'provider_context_too_long',
    says: /too long for the model \(400\): too much$/,
    requests: 1,
  },
  'a context that is too long, by its words': {
    reply: error(400, "This model's maximum context length is 8192 tokens."),
    code: 'provider_context_too_long',
    says: /8192/,
    requests: 1,
  },
  'a body that is too large': {
    reply: error(413, 'large'),
    code: 'provider_context_too_long',
    says: /413/,
    requests: 1,
  },
  'an unknown model': {
    reply: error(404, 'model not found', 'model_not_found'),
    code: 'provider_not_found',
    says: /does not know this address or model \(404\): model not found$/,
    requests: 1,
  },
  'a bad request': {
    reply: error(400, 'bad field'),
    code: 'provider_bad_request',
    says: /bad field$/,
    requests: 1,
  },
  'a refusal without the usual shape': {
    reply: { status: 422, body: { detail: [{ msg: 'field required' }] } },
    code: 'provider_bad_request',
    says: /field required/,
    requests: 1,
  },
  'a refusal without a body': {
    reply: { status: 400, body: '' },
    code: 'provider_bad_request',
    says: /\(400\)$/,
    requests: 1,
  },
  'a request that took the server too long': {
    reply: error(408, ''),
    code: 'provider_timeout',
    says: /408/,
    requests: 3,
  },
  'a server error': {
    reply: error(500, 'oops'),
    code: 'provider_unavailable',
    says: /failed \(500\): oops/,
    requests: 3,
  },
  'the page of a gateway': {
    reply: {
      status: 502,
      headers: { 'content-type': 'text/html' },
      body: '<html><title>Bad gateway</title><hr></html>',
    },
    code: 'provider_unavailable',
    says: /failed \(502\): Bad gateway \(tried/,
    requests: 3,
  },
  'a connection that breaks before the headers': {
    reply: { drop: true },
    code: 'provider_cut_stream',
    says: /closed the connection/,
    requests: 3,
  },
  'a connection that breaks before the first text': {
    reply: { steps: [{ act: 'drop' }] },
    code: 'provider_cut_stream',
    says: /closed the connection/,
    requests: 3,
  },
  'a connection that breaks in the text': {
    reply: { steps: [{ text: 'Hel' }, { act: 'drop' }] },
    code: 'provider_cut_stream',
    says: /closed the connection/,
    partial: 'Hel',
    requests: 1,
  },
  'a body that ends in the text': {
    reply: { steps: [{ text: 'Hel' }, { act: 'end' }] },
    code: 'provider_cut_stream',
    says: /ended its answer before it was whole$/,
    partial: 'Hel',
    requests: 1,
  },
  'a body that ends in an event': {
    reply: { steps: [{ text: 'Hel' }, { raw: 'data: {"choices":[{"delta":{"con' }, { act: 'end' }] },
    code: 'provider_cut_stream',
    says: /before it was whole$/,
    partial: 'Hel',
    requests: 1,
  },
  'a body that ends in the arguments of a call': {
    reply: { calls: [{ name: 'read', arguments: '{"path": "a' }], finish: null, done: false },
    code: 'provider_cut_stream',
    says: /before it was whole/,
    requests: 3,
  },
  'an error event in the text': {
    reply: { steps: [{ text: 'Hel' }, { error: { message: 'boom', type: 'server_error' } }] },
    code: 'provider_unavailable',
    says: /sent an error in its answer: boom$/,
    partial: 'Hel',
    requests: 1,
  },
  'an error event before the text': {
    reply: { steps: [{ error: { message: 'Overloaded', type: 'overloaded_error' } }] },
    code: 'provider_rate_limit',
    says: /Overloaded/,
    requests: 3,
  },
  'an error event with a status': {
    reply: { steps: [{ error: { message: 'bad key', code: 401 } }] },
    code: 'provider_auth',
    says: /\(401\): bad key$/,
    requests: 1,
  },
  'an error event about the context': {
    reply: { steps: [{ error: { message: 'x', code: 'context_length_exceeded' } }] },
    code: 'provider_context_too_long',
    says: /: x$/,
    requests: 1,
  },
  'an error event that is a bare text': {
    reply: { steps: [{ error: 'boom' }] },
    code: 'provider_unavailable',
    says: /: boom/,
    requests: 3,
  },
  'an error event of another shape': {
    reply: {
      steps: [{ chunk: { object: 'error', message: 'invalid_request: no' } }],
      finish: null,
      done: false,
      role: false,
    },
    code: 'provider_bad_request',
    says: /invalid_request: no$/,
    requests: 1,
  },
  'an error in a choice': {
    reply: {
      steps: [
        {
          chunk: {
            choices: [{ delta: {}, error: { code: 502, message: 'upstream' }, finish_reason: 'error' }],
          },
        },
      ],
    },
    code: 'provider_unavailable',
    says: /\(502\): upstream/,
    requests: 3,
  },
  'a finish reason that is a failure': {
    reply: { text: 'Hel', finish: 'error' },
    code: 'provider_unavailable',
    says: /ended with 'error'$/,
    partial: 'Hel',
    requests: 1,
  },
  'a web page with status 200': {
    reply: { status: 200, headers: { 'content-type': 'text/html' }, body: html },
    code: 'provider_bad_answer',
    says: /sent a web page: <!doctype html>/,
    requests: 1,
  },
  'a web page that says it is a stream': {
    reply: { steps: [{ raw: html }, { act: 'end' }], role: false },
    code: 'provider_bad_answer',
    says: /sent a web page/,
    requests: 1,
  },
  'an empty stream': {
    reply: { role: false, done: false, finish: null },
    code: 'provider_bad_answer',
    says: /sent nothing that is part of an answer$/,
    requests: 1,
  },
  'a stream with nothing but [DONE]': {
    reply: { role: false, finish: null },
    code: 'provider_bad_answer',
    says: /sent nothing that is part of an answer/,
    requests: 1,
  },
  'broken JSON in an event': {
    reply: { steps: [{ text: 'Hel' }, { raw: 'data: {oops\n\n' }] },
    code: 'provider_bad_answer',
    says: /sent a piece that is not JSON/,
    partial: 'Hel',
    requests: 1,
  },
  'JSON of something else': {
    reply: { status: 200, body: { hello: 1 } },
    code: 'provider_bad_answer',
    says: /nothing that is part of an answer/,
    requests: 1,
  },
  'an error with status 200': {
    reply: { status: 200, body: { error: { message: 'no such model', code: 404 } } },
    code: 'provider_not_found',
    says: /no such model/,
    requests: 1,
  },
  'an answer that a content filter stopped at once': {
    reply: { finish: 'content_filter' },
    code: 'provider_bad_answer',
    says: /content filter/,
    requests: 1,
  },
}

describe('a failure has its class, its cause, the next step and what was received', () => {
  test.for(Object.entries(rows))('%s', async ([, row]) => {
    const provider = await startScripted({ fallback: row.reply })
    const { ask } = makeTestModel(provider.url, { maxRetries: 2 })
    const caught = await rejection(ask())
    expect(caught).toBeInstanceOf(ProviderError)
    const { code, message, hint, partial, data } = caught as ProviderError
    expect({ code, partial: partial?.text ?? null, requests: provider.chats.length }).toEqual({
      code: row.code,
      partial: row.partial ?? null,
      requests: row.requests,
    })
    const host = `127.0.0.1:${provider.port}`
    expect(message.startsWith(`provider '${host}' `)).toBe(true)
    expect(message).toMatch(row.says)
    expect(hint).toMatch(/^[a-z]/)
    expect(data).toMatchObject({ host, attempts: row.requests })
  })

  test('a content filter that stops behind some text leaves the text and a status', async () => {
    const { url } = await startScripted([{ text: 'Hel', finish: 'content_filter' }])
    const { ask, texts } = makeTestModel(url)
    expect(await ask()).toMatchObject({ text: 'Hel', finish: 'stop' })
    expect(texts('status')).toEqual(["the provider's content filter ended the answer"])
  })

  test('keeps usage and reasoning of a cut answer', async () => {
    const { url } = await startScripted([
      { steps: [{ reasoning: 'hm' }, { text: 'Hel' }, { usage: { prompt_tokens: 7 } }, { act: 'drop' }] },
    ])
    const caught = await rejection(makeTestModel(url).ask())
    expect((caught as ProviderError).partial).toEqual({
      text: 'Hel',
      reasoning: 'hm',
      reasoning_field: 'reasoning_content',
      usage: { input_tokens: 7, output_tokens: null, reasoning_tokens: null, cached_tokens: null },
    })
  })
})
