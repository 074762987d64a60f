import { describe, expect, test } from 'vitest'
import type { Reply } from '../../../../fixtures/provider/server.mjs'
import type { Completion } from '../../../../sources/agent/model.ts'
import { makeTestModel, startScripted } from './_provider.ts'

const plain: Completion = {
  text: 'Hello, world',
  reasoning: '',
  reasoning_field: null,
  tool_calls: [],
  finish: 'stop',
  usage: null,
}
const twoCalls: Completion = {
  ...plain,
  text: '',
  finish: 'tool_calls',
  tool_calls: [
    { id: 'a', name: 'read', arguments: '{"path":"a.ts"}' },
    { id: 'b', name: 'ls', arguments: '{"path":"lib"}' },
  ],
}
const a = { id: 'a', name: 'read', arguments: { path: 'a.ts' } }
const b = { id: 'b', name: 'ls', arguments: { path: 'lib' } }
const call = (fields: object, name: string, text: string) => ({
  ...fields,
  function: { name, arguments: text },
})
const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
}

const rows: ReadonlyArray<readonly [title: string, reply: Reply, expected: Partial<Completion>]> = [
  ['plain text', 'Hello, world', plain],
  ['text in many pieces', { text: ['Hel', 'lo, ', '', 'world'] }, plain],
  ['CR LF as line ends', { text: ['Hello, ', 'world'], eol: '\r\n' }, plain],
  ['CR as line ends', { text: ['Hello, ', 'world'], eol: '\r' }, plain],
  ['single bytes with CR LF', { text: ['Hello, ', 'world'], eol: '\r\n', cutBytes: 1 }, plain],
  [
    'characters cut between bytes',
    { text: ['Grüße ', '世界 🎉'], cutBytes: 1 },
    { ...plain, text: 'Grüße 世界 🎉' },
  ],
  ['a character cut between events', { text: ['\ud83c', '\udf89'] }, { ...plain, text: '🎉' }],
  ['comments', { steps: [{ comment: 'ping' }, { text: 'Hello, world' }, { comment: 'ping' }] }, plain],
  [
    'event names and ids',
    { steps: [{ raw: 'event: message\nid: 7\nretry: 1\n' }, { text: 'Hello, world' }] },
    plain,
  ],
  [
    'no blank line between events',
    {
      steps: [
        { raw: 'data: {"choices":[{"index":0,"delta":{"content":"Hello, "}}]}\n' },
        { raw: 'data:{"choices":[{"index":0,"delta":{"content":"world"},"finish_reason":"stop"}]}\n' },
      ],
      finish: null,
    },
    plain,
  ],
  [
    'one event in several data lines, with CR LF in single bytes',
    {
      steps: [{ raw: 'data: {"choices":\r\ndata: [{"delta":{"content":"Hello, world"}}]}\r\n\r\n' }],
      eol: '\r\n',
      cutBytes: 1,
    },
    plain,
  ],
  [
    'one event in several data lines',
    {
      steps: [{ raw: 'data: {"choices":\ndata: [{"delta":{"content":"Hello, world"}}]}\n\n' }],
    },
    plain,
  ],
  ['no [DONE]', { text: 'Hello, world', done: false }, plain],
  [
    'no line end behind the last event',
    {
      steps: [
        { text: 'Hello, ' },
        { raw: 'data: {"choices":[{"delta":{"content":"world"},"finish_reason":"stop"}]}' },
        { act: 'end' },
      ],
      finish: null,
    },
    plain,
  ],
  ['no finish reason, but [DONE]', { text: 'Hello, world', finish: null }, plain],
  ['no finish reason and no [DONE], but whole calls', { calls: [a, b], finish: null, done: false }, twoCalls],
  [
    'silence behind [DONE]',
    {
      steps: [{ text: 'Hello, world' }, { finish: 'stop' }, { raw: 'data: [DONE]\n\n' }, { act: 'stall' }],
      finish: null,
    },
    plain,
  ],
  ['finish reason length', { text: 'Hello, world', finish: 'length' }, { ...plain, finish: 'length' }],
  ['a finish reason of its own', { text: 'Hello, world', finish: 'eos' }, plain],
  ['an empty answer', { text: '' }, { ...plain, text: '' }],
  [
    'content as a list of parts',
    { steps: [{ delta: { content: [{ type: 'text', text: 'Hello, world' }] } }] },
    plain,
  ],
  [
    'message in place of delta',
    { steps: [{ chunk: { choices: [{ message: { content: 'Hello, world' } }] } }] },
    plain,
  ],
  [
    'choices beside the first',
    {
      steps: [
        {
          chunk: {
            choices: [
              { index: 1, delta: { content: 'no' } },
              { index: 0, delta: { content: 'Hello, world' } },
            ],
          },
        },
      ],
    },
    plain,
  ],
  [
    'an answer that is not streamed although it was asked for',
    { text: 'Hello, world', unstreamed: true },
    plain,
  ],
  ['two calls with their pieces in turn', { calls: [a, b] }, twoCalls],
  [
    'arguments in single characters',
    {
      calls: [
        { ...a, pieces: 99 },
        { ...b, pieces: 99 },
      ],
    },
    twoCalls,
  ],
  ['calls with finish reason stop', { calls: [a, b], finish: 'stop' }, twoCalls],
  ['calls in single bytes', { calls: [a, b], cutBytes: 1 }, twoCalls],
  [
    'later empty ids and names',
    {
      calls: [
        { ...a, later: { id: '' } },
        { ...b, later: { id: null } },
      ],
      steps: [],
    },
    twoCalls,
  ],
  [
    'calls without index, one behind the other',
    {
      steps: [{ calls: [{ ...a, index: null }] }, { calls: [{ ...b, index: null }] }],
    },
    twoCalls,
  ],
  [
    'calls without index, told apart by id',
    {
      steps: [
        {
          calls: [
            { ...a, index: null, later: { id: 'a' } },
            { ...b, index: null, later: { id: 'b' } },
          ],
        },
      ],
    },
    twoCalls,
  ],
  [
    'whole calls that all have index 0',
    {
      steps: [
        { delta: { tool_calls: [call({ index: 0, id: 'a' }, 'read', '{"path":"a.ts"}')] } },
        { delta: { tool_calls: [call({ index: 0, id: 'b' }, 'ls', '{"path":"lib"}')] } },
      ],
    },
    twoCalls,
  ],
  [
    'whole calls without index in one list',
    {
      steps: [
        {
          delta: {
            tool_calls: [
              call({ id: 'a' }, 'read', '{"path":"a.ts"}'),
              call({ id: 'b' }, 'ls', '{"path":"lib"}'),
            ],
          },
        },
      ],
    },
    twoCalls,
  ],
  [
    'calls without index and id, told apart by their place',
    {
      steps: [
        { delta: { tool_calls: [call({}, 'read', '{"pa'), call({}, 'ls', '{"path"')] } },
        { delta: { tool_calls: [call({}, '', 'th":"a.ts"}'), call({}, '', ':"lib"}')] } },
      ],
    },
    { ...twoCalls, tool_calls: twoCalls.tool_calls.map((one, i) => ({ ...one, id: `fresh_${i + 1}` })) },
  ],
  [
    'calls in another order than their index',
    {
      steps: [
        { delta: { tool_calls: [call({ index: 1, id: 'b' }, 'ls', '{"path":"lib"}')] } },
        { delta: { tool_calls: [call({ index: 0, id: 'a' }, 'read', '{"path":"a.ts"}')] } },
      ],
    },
    twoCalls,
  ],
  [
    'one id for two calls',
    { calls: [a, { ...b, id: 'a' }] },
    {
      ...twoCalls,
      tool_calls: [twoCalls.tool_calls[0]!, { ...twoCalls.tool_calls[1]!, id: 'fresh_1' }],
    },
  ],
  [
    'a call without a name',
    { calls: [a, { ...b, name: '' }] },
    { ...twoCalls, tool_calls: [twoCalls.tool_calls[0]!] },
  ],
  [
    'arguments that are not JSON',
    { calls: [{ ...a, arguments: '{"path": ' }] },
    {
      ...twoCalls,
      tool_calls: [{ id: 'a', name: 'read', arguments: '{"path": ' }],
    },
  ],
  [
    'no arguments',
    { calls: [{ ...a, arguments: '' }] },
    { ...twoCalls, tool_calls: [{ id: 'a', name: 'read', arguments: '' }] },
  ],
  [
    'arguments as an object',
    {
      steps: [
        { delta: { tool_calls: [{ id: 'a', function: { name: 'read', arguments: { path: 'a.ts' } } }] } },
      ],
    },
    { ...twoCalls, tool_calls: [twoCalls.tool_calls[0]!] },
  ],
  [
    'usage',
    { text: 'Hello, world', usage },
    {
      ...plain,
      usage: { input_tokens: 10, output_tokens: 5, reasoning_tokens: 2, cached_tokens: 4 },
    },
  ],
  [
    'usage in part',
    { text: 'Hello, world', usage: { prompt_tokens: 3 } },
    {
      ...plain,
      usage: { input_tokens: 3, output_tokens: null, reasoning_tokens: null, cached_tokens: null },
    },
  ],
]

describe('an answer comes out the same whatever its stream looks like', () => {
  test.for(rows)('%s', async ([, reply, expected]) => {
    const { url } = await startScripted([reply])
    const { ask, texts } = makeTestModel(url)
    const completion = await ask()
    expect(completion).toEqual(expected)
    expect(texts('text').join('')).toBe(completion.text)
    expect(texts('reasoning').join('')).toBe(completion.reasoning)
  })
})

describe('reasoning', () => {
  const thought = { ...plain, reasoning: 'let me see' }

  test.for(['reasoning_content', 'reasoning', 'thinking', 'thought'])(
    'is read under the name %s',
    async (field) => {
      const { url } = await startScripted([
        { reasoning: ['let me', ' see'], text: 'Hello, world', reasoningField: field },
      ])
      const { ask, texts } = makeTestModel(url)
      expect(await ask()).toEqual({ ...thought, reasoning_field: field })
      expect(texts('reasoning')).toEqual(['let me', ' see'])
    },
  )

  test('does not lose its text to an empty field beside it', async () => {
    const { url } = await startScripted([
      { steps: [{ delta: { reasoning_content: '', reasoning: 'let me see' } }], text: 'Hello, world' },
    ])
    expect(await makeTestModel(url).ask()).toEqual({ ...thought, reasoning_field: 'reasoning' })
  })

  test('counts once when it comes under two names, and keeps the first', async () => {
    const both = (text: string) => ({
      delta: { reasoning: text, reasoning_details: [{ text }], thought: text },
    })
    const { url } = await startScripted([{ steps: [both('let me'), both(' see')], text: 'Hello, world' }])
    expect(await makeTestModel(url).ask()).toEqual({ ...thought, reasoning_field: 'reasoning' })
  })

  test('is read from structured details alone', async () => {
    const { url } = await startScripted([
      {
        steps: [
          { delta: { reasoning_details: [{ type: 'reasoning.text', text: 'let me' }] } },
          { delta: { reasoning_details: [{ type: 'reasoning.summary', summary: ' see' }, { data: 'xyz' }] } },
        ],
        text: 'Hello, world',
      },
    ])
    expect(await makeTestModel(url).ask()).toEqual({ ...thought, reasoning_field: 'reasoning' })
  })
})

describe('a model that does not stream', () => {
  test('is asked for one piece and gives it whole', async () => {
    const provider = await startScripted([{ reasoning: 'hm', text: 'Hello, world', calls: [a], usage }])
    const { ask, texts } = makeTestModel(provider.url, { supportsStreaming: false })
    expect(await ask()).toEqual({
      text: 'Hello, world',
      reasoning: 'hm',
      reasoning_field: 'reasoning_content',
      tool_calls: [twoCalls.tool_calls[0]],
      finish: 'tool_calls',
      usage: { input_tokens: 10, output_tokens: 5, reasoning_tokens: 2, cached_tokens: 4 },
    })
    expect(texts('text')).toEqual(['Hello, world'])
    expect(provider.chats[0]?.body).toMatchObject({ stream: false })
    expect(provider.chats[0]?.body).not.toHaveProperty('stream_options')
  })
})
