import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { tryFindCheckpoint } from '../../../sources/conversation/checkpoints.ts'
import { LogFile } from '../../../sources/conversation/logFile.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { forkPoint } from '../../../sources/conversation/repair.ts'
import { locate, parseSelector } from '../../../sources/conversation/selector.ts'
import { CassError } from '../../../sources/errors.ts'
import { createBranch } from '../../../sources/session/createBranch.ts'
import { findBranch } from '../../../sources/session/findBranch.ts'
import { listCheckpoints } from '../../../sources/session/listCheckpoints.ts'
import { checkpointContext, locatePlace } from '../../../sources/session/locatePlace.ts'
import type { Place } from '../../../sources/session/place.ts'
import { assistant, call, result, user } from '../conversation/_messages.ts'
import { makePlace, type Seeded, START, seedChat } from './_session.ts'

/** What a selector means when every message of the branch was read whole. */
function reference(place: Place, { conversation, chat_id }: Seeded, text: string) {
  const selector = parseSelector(text)
  const items = conversation.items(conversation.chain('main'), 'whole', 'main')
  const { checkpoint } = locate(items, selector)
  const found = tryFindCheckpoint(items, checkpoint, checkpointContext(place, conversation))
  if (found === null) return { code: 'checkpoint_not_found' }
  return { chat_id, checkpoint: found, fork: forkPoint(items, checkpoint, '') }
}

function located(place: Place, text: string) {
  const { chat_id, checkpoint, items } = locatePlace(place, text)
  const { record_index, kind, tool_call_id } = checkpoint
  return { chat_id, checkpoint, fork: forkPoint(items, { record_index, kind, tool_call_id }, '') }
}

/** What it gives, or the code it throws. */
function outcomeOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (error instanceof CassError) return { code: error.code }
    throw error
  }
}

/** A group: a text of the user's, or an assistant's with calls, of which any number has results, in any order. */
const group: fc.Arbitrary<Message[]> = fc.oneof(
  fc.string({ maxLength: 200 }).map((text) => [user(text)]),
  fc
    .record({
      text: fc.string({ maxLength: 200 }),
      calls: fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd'), { maxLength: 4 }),
      answered: fc.shuffledSubarray(['a', 'b', 'c', 'd']),
      ok: fc.boolean(),
    })
    .map(({ text, calls, answered, ok }) => [
      assistant(text, ...calls.map((id) => call(id, `{"path":"${id}"}`))),
      ...answered.filter((id) => calls.includes(id)).map((id) => result(id, `${id} is there`, ok)),
    ]),
)
const chain = fc
  .tuple(fc.boolean(), fc.array(group, { minLength: 1, maxLength: 6 }))
  .map(([hasSystem, groups]) => [
    ...(hasSystem ? [{ role: 'system', content: 'You are a test.', ts: START.toISOString() } as const] : []),
    ...groups.flat(),
  ])

describe('a place', () => {
  it('is the same as when all messages were read, by every selector', { timeout: 120_000 }, async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(chain, async (messages) => {
        const place = makePlace()
        const seeded = await seedChat(place, { messages, fs: 7, ws: 'k' })
        const all = await listCheckpoints(place, {
          ...{ branch: null, family: false, limit: null },
          kinds: ['start', 'user', 'assistant', 'tool_call', 'tool_result'],
        })
        const indices = Array.from({ length: messages.length + 3 }, (_, index) => index)
        const selectors = [
          '@',
          seeded.chat_id,
          ...all.checkpoints.map(({ id }) => id),
          ...indices.map((index) => `@:${index}`),
          ...indices.map((index) => `@~${index}`),
          ...indices.map((index) => `@:${index}:user`),
          ...indices.map((index) => `@:${index}:assistant`),
          ...indices.map((index) => `@:${index}:start`),
          ...indices.flatMap((index) => ['a', 'x'].map((id) => `@:${index}:tool_call:${id}`)),
          ...indices.map((index) => `@:${index}:tool_result:b`),
          ...seeded.ids.flatMap((id) => [`^${id}`, `^${id.slice(0, -1)}`, `^${id.toLowerCase()}`]),
        ]
        for (const text of selectors) {
          const expected = outcomeOf(() => reference(place, seeded, text))
          expect({ text, is: outcomeOf(() => located(place, text)) }).toEqual({ text, is: expected })
          seen.add(kindOf(expected))
        }
      }),
      { numRuns: 25 },
    )
    expect([...seen].toSorted()).toEqual(
      expect.arrayContaining(['assistant', 'start', 'tool_call', 'tool_result', 'user']),
    )
  })

  it('costs the messages of its own group and no other', async () => {
    const place = makePlace()
    const messages = Array.from({ length: 60 }, (_, turn) => [
      user(`question ${turn}`),
      assistant('', call(`c${turn}`), call(`d${turn}`)),
      result(`c${turn}`),
      result(`d${turn}`),
      assistant(`answer ${turn}`),
    ]).flat()
    const { chat_id, ids } = await seedChat(place, { messages })
    const read = vi.spyOn(LogFile.prototype, 'readLines')
    try {
      const cost = (text: string) => {
        read.mockClear()
        locatePlace(place, text)
        return read.mock.calls.reduce((sum, [nodes]) => sum + nodes.length, 0)
      }
      expect(cost('@')).toBe(1)
      // A group of four: the end of the turn before is a message alone.
      expect(cost('@~30')).toBeLessThanOrEqual(3)
      expect(cost(`${chat_id}:2:user`)).toBeLessThanOrEqual(3)
      expect(cost(`${chat_id}:3:tool_call:d0`)).toBe(3)
      expect(cost(`${chat_id}:4:tool_result:c0`)).toBe(3)
      expect(cost(`^${ids[152] ?? ''}`)).toBe(3)
      expect(cost('@:1:start')).toBeLessThanOrEqual(3)
    } finally {
      read.mockRestore()
    }
  })

  it('is on the branch that it was named on, which may share its messages', async () => {
    const place = makePlace()
    const { chat_id, ids } = await seedChat(place, {
      messages: [user('one'), assistant('two'), user('three')],
    })
    const { chat_id: branch } = await createBranch(place, {
      ...{ checkpoint: `${chat_id}:3:assistant`, name: 'try', switchTo: false },
    })
    expect(located(place, 'try')).toMatchObject({
      chat_id: branch,
      // What is shared is named by the branch that made it.
      checkpoint: { id: `${chat_id}:3:assistant` },
    })
    expect(located(place, `^${ids[0] ?? ''}`)).toMatchObject({ chat_id })
    expect(findBranch(place, { type: 'named', name: 'try' }).chat_id).toBe(branch)
  })
})

function kindOf(outcome: unknown): string {
  if (typeof outcome !== 'object' || outcome === null) return ''
  if ('code' in outcome) return String(outcome.code)
  return 'checkpoint' in outcome ? (outcome as { checkpoint: { kind: string } }).checkpoint.kind : ''
}
