import { describe, expect, it } from 'vitest'
import type { Message } from '../../../sources/conversation/message.ts'
import {
  locate,
  matchMessageId,
  parseSelector,
  type Selector,
} from '../../../sources/conversation/selector.ts'
import { assistant, call, chainOf, result, TS, user } from './_messages.ts'

const current = { type: 'current' } as const
const named = (name: string) => ({ type: 'named', name }) as const
const CHAT = '2026-06-25-101533-a_-9'

describe('selectors', () => {
  it.each<[string, Selector]>([
    ['@', { type: 'branch', branch: current }],
    ['retry', { type: 'branch', branch: named('retry') }],
    [CHAT, { type: 'branch', branch: named(CHAT) }],
    ['@~0', { type: 'turns', branch: current, back: 0 }],
    ['retry~12', { type: 'turns', branch: named('retry'), back: 12 }],
    ['@:5', { type: 'record', branch: current, record_index: 5 }],
    [`${CHAT}:5`, { type: 'record', branch: named(CHAT), record_index: 5 }],
    ['^01ARYZ', { type: 'message', prefix: '01ARYZ' }],
    [
      `${CHAT}:1:start`,
      {
        type: 'checkpoint',
        branch: named(CHAT),
        checkpoint: { record_index: 1, kind: 'start', tool_call_id: null },
      },
    ],
    [
      `${CHAT}:7:assistant`,
      {
        type: 'checkpoint',
        branch: named(CHAT),
        checkpoint: { record_index: 7, kind: 'assistant', tool_call_id: null },
      },
    ],
    [
      `${CHAT}:7:tool_call:a:b~1\n^`,
      {
        type: 'checkpoint',
        branch: named(CHAT),
        checkpoint: { record_index: 7, kind: 'tool_call', tool_call_id: 'a:b~1\n^' },
      },
    ],
    [
      '@:7:tool_result:',
      {
        type: 'checkpoint',
        branch: current,
        checkpoint: { record_index: 7, kind: 'tool_result', tool_call_id: '' },
      },
    ],
  ])('read %j', (text, selector) => {
    expect(parseSelector(text)).toEqual(selector)
  })

  it.each([
    '',
    '~1',
    '@~',
    '@~x',
    '@~-1',
    ':5',
    '@:',
    '@:x',
    '^',
    'a^b',
    '@:5:shrug',
    '@:5:user:x',
    '@:5:tool_call',
    '@~1~2',
  ])('refuse %j', (text) => {
    expect(() => parseSelector(text)).toThrow(
      expect.objectContaining({ code: 'bad_selector', kind: 'usage' }),
    )
  })
})

describe('places on a branch', () => {
  const system: Message = { role: 'system', content: 'rules', ts: TS }
  const items = chainOf([
    system,
    user('one'),
    assistant('', call('a'), call('b')),
    result('a'),
    result('b'),
    user('two'),
    assistant('done'),
  ])
  const at = (text: string) => {
    const { checkpoint, fs } = locate(items, parseSelector(text))
    const { record_index, kind, tool_call_id } = checkpoint
    return [`${record_index}:${kind}${tool_call_id === null ? '' : `:${tool_call_id}`}`, fs]
  }

  it.each([
    ['@', '7:assistant', 60],
    ['@~0', '7:assistant', 60],
    // The conversation ends before the user message, the files are those at it.
    ['@~1', '5:tool_result:b', 50],
    ['@~2', '1:start', 10],
    ['@:1', '1:start', 0],
    ['@:2', '2:user', 10],
    ['@:4', '4:tool_result:a', 30],
    ['@:3:tool_call:a', '3:tool_call:a', 20],
    ['@:3:tool_call:b', '3:tool_call:b', 30],
    ['^M3', '4:tool_result:a', 30],
    ['^m3', '4:tool_result:a', 30],
  ])('%s is at %s with the journal at %d', (text, place, fs) => {
    expect(at(text)).toEqual([place, fs])
  })

  it.each([
    ['@~3', 'selector_beyond_start'],
    ['@:0', 'checkpoint_not_found'],
    ['@:8', 'checkpoint_not_found'],
    ['@:2:assistant', 'checkpoint_not_found'],
    ['^M9', 'message_not_found'],
    ['^M', 'message_ambiguous'],
  ])('%s fails with %s', (text, code) => {
    expect(() => at(text)).toThrow(expect.objectContaining({ code, kind: 'failed' }))
  })

  it('of an empty branch is its start', () => {
    const place = locate([], parseSelector('@'))
    expect(place).toEqual({
      checkpoint: { record_index: 1, kind: 'start', tool_call_id: null },
      fs: null,
      ws: null,
    })
    expect(() => locate([], parseSelector('@~1'))).toThrow("the branch has only 0 turns, not '1'")
  })

  it('prefers a whole message id to longer ones that start with it', () => {
    expect(matchMessageId('AB', ['ABC', 'AB'])).toBe('AB')
  })
})
