import { describe, expect, test } from 'vitest'
import type { RequestMessage } from '../../../../sources/conversation/request.ts'
import { makeTestModel, readTool, rejection, simpleRequest, startScripted } from './_provider.ts'

const hello = { fallback: 'Hello' }

/** The body that a request has on the wire. */
async function bodyOf(...request: Parameters<ReturnType<typeof makeTestModel>['ask']>) {
  const provider = await startScripted(hello)
  await makeTestModel(provider.url).ask(...request)
  return provider.chats[0]?.body
}

describe('the request body', () => {
  test('has the model, the messages and the streaming options, and nothing else', async () => {
    expect(await bodyOf()).toEqual({
      model: 'scripted',
      messages: simpleRequest.messages,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('has the reasoning effort as a field of its own', async () => {
    const body = await bodyOf({ reasoning: { format: 'reasoning_effort', effort: 'high' } })
    expect(body.reasoning_effort).toBe('high')
    expect(body).not.toHaveProperty('reasoning')
  })

  test('has the reasoning effort as an object for a model that wants that', async () => {
    const body = await bodyOf({ reasoning: { format: 'reasoning_object', effort: 'low' } })
    expect(body.reasoning).toEqual({ effort: 'low' })
    expect(body).not.toHaveProperty('reasoning_effort')
  })

  test('says none when reasoning is off and the model knows it', async () => {
    expect(await bodyOf({ reasoning: { format: 'reasoning_effort', effort: 'none' } })).toMatchObject({
      reasoning_effort: 'none',
    })
  })

  test('says nothing of reasoning for a model without it', async () => {
    const body = await bodyOf({ reasoning: null })
    expect(Object.keys(body).filter((field) => field.startsWith('reasoning'))).toEqual([])
  })

  test('offers tools as functions', async () => {
    expect(await bodyOf({ tools: [readTool] })).toMatchObject({
      tools: [{ type: 'function', function: readTool }],
    })
  })

  test('offers no tools when there are none, or the model does not support them', async () => {
    expect(await bodyOf({ tools: [] })).not.toHaveProperty('tools')
    const provider = await startScripted(hello)
    await makeTestModel(provider.url, { supportsTools: false }).ask({ tools: [readTool] })
    expect(provider.chats[0]?.body).not.toHaveProperty('tools')
  })

  test('sends calls, results and reasoning back as the provider made them', async () => {
    const messages: ReadonlyArray<RequestMessage> = [
      ...simpleRequest.messages,
      {
        role: 'assistant',
        content: '',
        reasoning: { field: 'reasoning', text: 'let me see' },
        tool_calls: [{ id: 'a', name: 'read', arguments: '{"path": "a.ts"}' }],
      },
      { role: 'tool', tool_call_id: 'a', content: '1\tlet x' },
      { role: 'assistant', content: 'done', reasoning: { field: 'thinking', text: ' \n' } },
      { role: 'user', content: 'thanks' },
    ]
    const body = await bodyOf({ messages })
    expect(body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        reasoning: 'let me see',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'read', arguments: '{"path": "a.ts"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1\tlet x' },
      { role: 'assistant', content: 'done' },
      { role: 'user', content: 'thanks' },
    ])
  })

  test('lets no stored reasoning field replace a field of the message', async () => {
    const messages: ReadonlyArray<RequestMessage> = [
      ...simpleRequest.messages,
      { role: 'assistant', content: 'done', reasoning: { field: 'role', text: 'system' } },
      { role: 'user', content: 'thanks' },
    ]
    expect((await bodyOf({ messages })).messages[2]).toEqual({ role: 'assistant', content: 'done' })
  })

  test('gets its reasoning back under the name under which it came', async () => {
    const provider = await startScripted([
      { reasoning: 'hm', text: 'Hello', reasoningField: 'thought' },
      'Bye',
    ])
    const { ask } = makeTestModel(provider.url)
    const first = await ask()
    const reasoning = { field: first.reasoning_field ?? '', text: first.reasoning }
    await ask({
      messages: [
        ...simpleRequest.messages,
        { role: 'assistant', content: first.text, reasoning },
        { role: 'user', content: 'go on' },
      ],
    })
    expect(provider.chats[1]?.body.messages[2]).toEqual({
      role: 'assistant',
      content: 'Hello',
      thought: 'hm',
    })
  })
})

describe('the address', () => {
  test.for(['', '/', '/chat/completions', '/chat/completions/'])('may end in "%s"', async (end) => {
    const provider = await startScripted(hello)
    await makeTestModel(`${provider.url}${end}`).ask()
    expect(provider.chats[0]?.path).toBe('/v1/chat/completions')
  })

  test('may have a query, which each request gets', async () => {
    const provider = await startScripted(hello)
    await makeTestModel(`${provider.url}?api-version=2026-01-01`).ask()
    expect(provider.chats[0]?.path).toBe('/v1/chat/completions?api-version=2026-01-01')
  })
})

describe('the headers', () => {
  test('are the fewest that are needed', async () => {
    const provider = await startScripted(hello)
    await makeTestModel(provider.url).ask()
    const { headers } = provider.chats[0]!
    expect(headers).toMatchObject({
      authorization: 'Bearer sk-test-0123456789',
      'content-type': 'application/json',
      'user-agent': 'cass/test',
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('x-'))).toEqual([])
  })

  test.for([null, '', '  '])('have no authorization for the key %j', async (key) => {
    const provider = await startScripted(hello)
    await makeTestModel(provider.url, { key }).ask()
    expect(provider.chats[0]?.headers).not.toHaveProperty('authorization')
  })

  test('are not taken from the variables of the SDK', async () => {
    const names = [
      'OPENAI_API_KEY',
      'OPENAI_ADMIN_KEY',
      'OPENAI_ORG_ID',
      'OPENAI_PROJECT_ID',
      'OPENAI_CUSTOM_HEADERS',
    ]
    for (const name of names)
      process.env[name] = name === 'OPENAI_CUSTOM_HEADERS' ? 'x-mark: mark-0000' : 'mark-0000'
    try {
      const provider = await startScripted(hello)
      await makeTestModel(provider.url, { key: null }).ask()
      expect(JSON.stringify(provider.chats[0])).not.toContain('mark-0000')
    } finally {
      for (const name of names) delete process.env[name]
    }
  })
})

describe('a strict provider', () => {
  test('refuses a request that was not built well, and its words are told', async () => {
    const { url } = await startScripted(hello)
    const messages: ReadonlyArray<RequestMessage> = [{ role: 'tool', tool_call_id: 'x', content: '' }]
    expect(await rejection(makeTestModel(url).ask({ messages }))).toMatchObject({
      code: 'provider_bad_request',
      message: expect.stringContaining("answers 'x', which is no open call"),
    })
  })
})
