import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CheckpointContext,
  type CheckpointRef,
  checkpointsOf,
} from '../../../sources/conversation/checkpoints.ts'
import type { ChainItem, Message } from '../../../sources/conversation/message.ts'
import { completeTurn, forkPoint, pendingCalls } from '../../../sources/conversation/repair.ts'
import { buildRequest } from '../../../sources/conversation/request.ts'
import { anyMessages, assistant, call, chainOf, notice, result, TS, user } from './_messages.ts'
import { objectionTo } from './_strict.ts'

const context: CheckpointContext = { conversation: 'C', chatOfHead: (head) => head, createdAt: TS, ws: null }
const system: Message = { role: 'system', content: 'rules', ts: TS }

describe('making a branch', () => {
  const items = chainOf([
    system,
    user('go'),
    assistant('', call('a'), call('b'), call('c')),
    result('a'),
    result('b'),
    result('c'),
    assistant('done'),
  ])

  it.each<[string, CheckpointRef, string | null, string[]]>([
    ['start', { record_index: 1, kind: 'start', tool_call_id: null }, 'M0', []],
    ['user message', { record_index: 2, kind: 'user', tool_call_id: null }, 'M1', []],
    ['assistant message', { record_index: 3, kind: 'assistant', tool_call_id: null }, 'M2', ['a', 'b', 'c']],
    ['first call', { record_index: 3, kind: 'tool_call', tool_call_id: 'a' }, 'M2', ['a', 'b', 'c']],
    ['second call', { record_index: 3, kind: 'tool_call', tool_call_id: 'b' }, 'M3', ['b', 'c']],
    ['last call', { record_index: 3, kind: 'tool_call', tool_call_id: 'c' }, 'M4', ['c']],
    ['first result', { record_index: 4, kind: 'tool_result', tool_call_id: 'a' }, 'M3', ['b', 'c']],
    ['last result', { record_index: 6, kind: 'tool_result', tool_call_id: 'c' }, 'M5', []],
    ['final answer', { record_index: 7, kind: 'assistant', tool_call_id: null }, 'M6', []],
  ])('at a %s starts where it should', (_, checkpoint, from, repaired) => {
    const point = forkPoint(items, checkpoint, TS)
    expect({ from: point.from, repaired: point.repaired }).toEqual({ from, repaired })
    const last = items.find(({ id }) => id === from)
    expect({ fs: point.fs, ws: point.ws }).toEqual({ fs: last?.fs, ws: last?.ws })
    expect(point.synthetic.map(({ tool_call_id }) => tool_call_id)).toEqual(repaired)
    for (const message of point.synthetic)
      expect(message).toMatchObject({ role: 'tool', ok: false, notice: 'not_run' })
  })

  it('at the start of a conversation without a system message starts before everything', () => {
    const ref: CheckpointRef = { record_index: 1, kind: 'start', tool_call_id: null }
    expect(forkPoint(chainOf([user('go')]), ref, TS)).toMatchObject({
      from: null,
      shared: 0,
      fs: null,
      ws: null,
    })
  })

  it.each<CheckpointRef>([
    { record_index: 99, kind: 'user', tool_call_id: null },
    { record_index: 0, kind: 'user', tool_call_id: null },
    { record_index: 2, kind: 'assistant', tool_call_id: null },
    { record_index: 3, kind: 'tool_call', tool_call_id: 'x' },
    { record_index: 4, kind: 'tool_result', tool_call_id: 'b' },
  ])('at a checkpoint that is not there fails ($record_index $kind)', (checkpoint) => {
    expect(() => forkPoint(items, checkpoint, TS)).toThrow(
      expect.objectContaining({ code: 'checkpoint_not_found' }),
    )
  })

  it('anywhere, again and again, gives a branch whose next request a strict provider accepts', () => {
    const step = fc.record({ pick: fc.nat(), later: anyMessages })
    fc.assert(
      fc.property(anyMessages, fc.array(step, { minLength: 1, maxLength: 4 }), (first, steps) => {
        let messages: Message[] = first
        for (const { pick, later } of steps) {
          const chain = chainOf(messages)
          const checkpoints = checkpointsOf(chain, context)
          const point = forkPoint(chain, checkpoints[pick % checkpoints.length]!, TS)
          const branch = [...messages.slice(0, point.shared), ...point.synthetic]
          expect(pendingCalls(chainOf(branch))).toEqual([])
          expect(objectionTo(buildRequest('rules', [...branch, user('next')]))).toBeNull()
          messages = [...branch, ...later]
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('completing a turn', () => {
  const complete = (items: ReadonlyArray<ChainItem>, kind: 'cancelled' | 'interrupted' = 'interrupted') =>
    completeTurn(items, { notice: kind, outcomes: new Map([['b', 'changed']]), ts: TS })

  it('gives each call without a result one, says what is known of its file, and ends with a notice', () => {
    const added = complete(chainOf([user('go'), assistant('', call('a'), call('b'), call('c')), result('a')]))
    expect(added.map(({ role, tool_call_id, notice: kind }) => [role, tool_call_id, kind])).toEqual([
      ['tool', 'b', 'interrupted'],
      ['tool', 'c', 'interrupted'],
      ['assistant', undefined, 'interrupted'],
    ])
    expect(added[0]?.content).toContain('The file was changed by it.')
    expect(added[1]?.content).not.toContain('file')
  })

  it('uses the words that readers of transcripts know when the user cancelled', () => {
    const added = complete(chainOf([user('go'), assistant('', call('a'))]), 'cancelled')
    expect(added.map(({ content }) => content)).toEqual([
      'Tool execution cancelled by user.',
      'Turn cancelled by user.',
    ])
  })

  it.each<[string, Message[], 'cancelled' | 'interrupted', number]>([
    ['nothing', [], 'interrupted', 0],
    ['a message without an answer', [user('go')], 'interrupted', 1],
    ['a final answer', [user('go'), assistant('done')], 'interrupted', 0],
    ['an answer that was cut by the user', [user('go'), assistant('half')], 'cancelled', 1],
    ['a notice', [user('go'), notice('provider_error', 'x')], 'cancelled', 0],
    ['all results', [user('go'), assistant('', call('a')), result('a')], 'interrupted', 1],
  ])('after %s adds what is missing', (_, messages, kind, count) => {
    expect(complete(chainOf(messages), kind)).toHaveLength(count)
  })

  it('twice does it once, and leaves no call without a result', () => {
    fc.assert(
      fc.property(
        anyMessages,
        fc.constantFrom('cancelled' as const, 'interrupted' as const),
        (messages, kind) => {
          const done = [...messages, ...complete(chainOf(messages), kind)]
          expect(complete(chainOf(done), kind)).toEqual([])
          expect(pendingCalls(chainOf(done))).toEqual([])
        },
      ),
    )
  })
})
