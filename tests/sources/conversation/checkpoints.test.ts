import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CheckpointContext,
  checkpointsOf,
  tryFindCheckpoint,
} from '../../../sources/conversation/checkpoints.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { anyMessages, assistant, call, chainOf, result, TS, user } from './_messages.ts'

const context: CheckpointContext = {
  conversation: 'C',
  chatOfHead: (head) => (head === 'main' ? 'C' : head),
  createdAt: TS,
  ws: null,
}
const system: Message = { role: 'system', content: 'rules', ts: TS }
const turn = [
  user('\n  first line \nsecond'),
  assistant(
    '',
    call('t:1', '{"path":"a.ts","content":"…"}', 'write'),
    call('t2', '{"command":"ls -l\\npwd"}', 'shell'),
  ),
  result('t:1'),
  result('t2', 'failed', false),
  { ...assistant(''), reasoning_content: 'thinking' },
]

describe('checkpoints', () => {
  it('stand at the start, at each message and at each call', () => {
    const rows = checkpointsOf(chainOf([system, ...turn]), context)
    expect(
      rows.map(({ id, label, detail, turn: n, message_id }) => [id, label, detail, n, message_id]),
    ).toEqual([
      ['C:1:start', 'start', '', 0, 'M0'],
      ['C:2:user', 'user', 'first line', 1, 'M1'],
      ['C:3:assistant', 'assistant', '', 1, 'M2'],
      ['C:3:tool_call:t:1', 'tool call write', 'file: a.ts', 1, 'M2'],
      ['C:3:tool_call:t2', 'tool call shell', 'ls -l', 1, 'M2'],
      ['C:4:tool_result:t:1', 'tool read ✓', 'done', 1, 'M3'],
      ['C:5:tool_result:t2', 'tool read ✗', 'failed', 1, 'M4'],
      ['C:6:assistant', 'assistant', 'thinking', 1, 'M5'],
    ])
  })

  it('have the shape that scripts read', () => {
    expect(checkpointsOf(chainOf([user('hi')]), context)[1]).toEqual({
      id: 'C:2:user',
      chat_id: 'C',
      conversation: 'C',
      record_index: 2,
      message_id: 'M0',
      tool_call_id: null,
      kind: 'user',
      label: 'user',
      detail: 'hi',
      ts: TS,
      turn: 1,
      files: null,
      restorable: null,
    })
  })

  it('belong to the branch that made their message, so that a shared beginning is listed once', () => {
    const main = chainOf([system, user('one')])
    const own = { ...chainOf([system, user('one'), user('two')], 'B')[2]! }
    expect(checkpointsOf([...main, own], context).map(({ id }) => id)).toEqual([
      'C:1:start',
      'C:2:user',
      'B:3:user',
    ])
  })

  it('cannot be restored without a place in the journal, or from another workspace', () => {
    const items = chainOf([system, user('one'), user('two')])
    const without = [items[0]!, items[1]!, { ...items[2]!, fs: null }]
    const restorable = (ws: string | null) =>
      checkpointsOf(without, { ...context, ws }).map((each) => each.restorable)
    expect(restorable(null)).toEqual([null, null, 'none'])
    expect(restorable('workspace')).toEqual([null, null, 'none'])
    expect(restorable('another')).toEqual(['none', 'none', 'none'])
  })

  it.each([
    ['{"path":"a\\u0062"}', 'file: ab'],
    ['{"pattern":"x","path":"src"}', 'file: src'],
    ['{"path":7}', '{"path":7}'],
    ['{"path":"cut off', '{"path":"cut off'],
    ['[1]', '[1]'],
    ['', ''],
    [`{"command":"${'😀'.repeat(200)}"}`, '😀'.repeat(96)],
  ])('describe the arguments %j by %j', (text, detail) => {
    expect(checkpointsOf(chainOf([assistant('', call('a', text))]), context)[2]?.detail).toBe(detail)
  })

  it('have ids that differ, that lead back to them, and that stay when the branch grows', () => {
    fc.assert(
      fc.property(anyMessages, anyMessages, (messages, later) => {
        const grown = chainOf([user('first'), ...messages, ...later])
        const items = grown.slice(0, messages.length + 1)
        const before = checkpointsOf(items, context)
        expect(new Set(before.map(({ id }) => id)).size).toBe(before.length)
        expect(checkpointsOf(grown, context).slice(0, before.length)).toEqual(before)
        for (const each of before) expect(tryFindCheckpoint(items, each, context)).toEqual(each)
      }),
    )
  })

  it('are found only where they are', () => {
    const items = chainOf([user('one'), assistant('', call('a'))])
    const find = (record_index: number, kind: 'user' | 'start' | 'tool_call', tool_call_id: string | null) =>
      tryFindCheckpoint(items, { record_index, kind, tool_call_id }, context)
    expect(find(3, 'tool_call', 'a')?.label).toBe('tool call read')
    expect(find(3, 'tool_call', 'b')).toBeNull()
    expect(find(3, 'user', null)).toBeNull()
    expect(find(2, 'start', null)).toBeNull()
    expect(find(4, 'user', null)).toBeNull()
    expect(find(0, 'user', null)).toBeNull()
  })
})
