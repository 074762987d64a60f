import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CassRecord,
  messageOfRecord,
  recordOfMessage,
  stringifyRecord,
  tryParseRecord,
} from '../../../sources/conversation/record.ts'
import { anyMessage, assistant, call, result, TS } from './_messages.ts'

describe('records of a transcript', () => {
  it.each<[CassRecord, string]>([
    [
      {
        type: 'meta',
        chat_id: 'c',
        created_at: TS,
        model: 'm',
        cwd: '/w',
        parent_chat_id: 'p',
        branch_from: { chat_id: 'p', record_index: 3, tool_call_id: 't', checkpoint_label: 'user' },
        conversation: 'p',
        head: 'c',
      },
      `{"type":"meta","chat_id":"c","created_at":"${TS}","model":"m","cwd":"/w","parent_chat_id":"p","branch_from":{"chat_id":"p","record_index":3,"tool_call_id":"t","checkpoint_label":"user"},"conversation":"p","head":"c"}`,
    ],
    [{ type: 'system', content: 's' }, '{"type":"system","content":"s"}'],
    [
      recordOfMessage(assistant('hi')),
      `{"type":"assistant","content":"hi","reasoning":"","tool_calls":[],"ts":"${TS}"}`,
    ],
    [
      recordOfMessage({
        ...assistant('', call('a', '{"b":1,"a":2}')),
        reasoning_content: 'r',
        reasoning_field: 'thinking',
      }),
      `{"type":"assistant","content":"","reasoning":"r","reasoning_field":"thinking","tool_calls":[{"id":"a","name":"read","arguments":{"b":1,"a":2}}],"ts":"${TS}"}`,
    ],
    [
      recordOfMessage({ ...result('a', 'x', false), notice: 'interrupted' }),
      `{"type":"tool","tool_call_id":"a","name":"read","ok":false,"content":"x","ts":"${TS}","notice":"interrupted"}`,
    ],
  ])('have their fields in the order of the other program (%#)', (record, line) => {
    expect(stringifyRecord(record)).toBe(line)
    expect(tryParseRecord(line)).toEqual(record)
  })

  it.each([
    ['', {}],
    [' ', {}],
    ['{"a":1}', { a: 1 }],
    ['[1]', [1]],
    ['{"a":', { _raw: '{"a":' }],
    ['['.repeat(101) + ']'.repeat(101), { _raw: '['.repeat(101) + ']'.repeat(101) }],
  ])('store the arguments %j as %j', (text, value) => {
    const record = recordOfMessage(assistant('', call('a', text)))
    expect(record.type === 'assistant' && record.tool_calls[0]?.arguments).toEqual(value)
  })

  it('come back from the message that they became', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const line = stringifyRecord(recordOfMessage(message))
        expect(line).not.toMatch(/[\n\r]|(?<!\\)(?:\\\\)*\\ud[89a-f]/)
        const record = tryParseRecord(line)
        if (record === null || record.type === 'meta') throw new Error('not a record of a message')
        expect(stringifyRecord(recordOfMessage(messageOfRecord(record, TS)))).toBe(line)
      }),
      { numRuns: 1000 },
    )
  })

  it('of older programs may lack reasoning, calls, times and branch fields, and may have more fields', () => {
    expect(tryParseRecord('{"type":"assistant","content":"hi","mood":"good"}')).toEqual({
      ...{ type: 'assistant', content: 'hi', reasoning: '', tool_calls: [], ts: '' },
    })
    expect(tryParseRecord('{"type":"meta","chat_id":"c","created_at":"t","model":"m","cwd":"/"}')).toEqual({
      ...{ type: 'meta', chat_id: 'c', created_at: 't', model: 'm', cwd: '/' },
    })
  })

  it.each([
    '',
    '{',
    '7',
    '{}',
    '{"type":"shrug","content":""}',
    '{"type":"user"}',
    '{"type":"tool","content":""}',
    '{"type":"meta"}',
  ])('are not seen in %j', (line) => expect(tryParseRecord(line)).toBeNull())
})
