import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { buildRequest } from '../../../sources/conversation/request.ts'
import { newMessageId } from '../../../sources/session/place.ts'
import { assistant, call, result, user } from '../conversation/_messages.ts'
import { append, demoTurn, entriesOf, makePlace, seedChat, TURN, takeWriter } from './_session.ts'

const system: Message = { role: 'system', content: 'You are a test.', ts: '2026-11-30T12:00:00.000Z' }
const notice = (kind: 'cancelled' | 'interrupted' | 'provider_error'): Message => ({
  ...assistant(`a notice: ${kind}`),
  notice: kind,
})

describe('a turn without a prompt', () => {
  it.each<[string, Message[]]>([
    ['a cancelled answer', [notice('cancelled')]],
    ['a cancelled answer of which something came', [assistant('I beg'), notice('cancelled')]],
    ['a broken stream', [assistant('I beg'), notice('provider_error')]],
    ['the step limit', [assistant('', call('c1', '{}', 'ls')), result('c1', 'a'), notice('interrupted')]],
    ['the results of calls', [assistant('', call('c1', '{}', 'ls')), result('c1', 'a')]],
    ['a call without its result', [assistant('', call('c1', '{}', 'ls'))]],
    ['nothing', []],
  ])('goes on behind %s', async (_, tail) => {
    const place = makePlace()
    const messages = [...TURN, user('now this'), ...tail]
    const { chat_id, ids } = await seedChat(place, { messages })
    const { events } = await demoTurn(place, { prompt: null })
    expect(events[0]).toMatchObject({ type: 'session_started', message_id: ids[TURN.length] })
    const conversation = Conversation.open(place.root, chat_id)
    const items = conversation.items(conversation.chain('main'), 'whole', 'main')
    expect(items.slice(0, ids.length).map(({ id }) => id)).toEqual(ids)
    expect(items.filter(({ message }) => message.role === 'user')).toHaveLength(2)
    expect(items.length).toBeGreaterThan(ids.length)
    const begin = entriesOf(place, chat_id).findLast(({ type }) => type === 'turn_begin')
    expect(begin).toMatchObject({ leaf: ids[TURN.length - 1] })
    const roles = buildRequest('s', messages).map(({ role }) => role)
    expect(roles.at(-1)).toMatch(/^(user|tool)$/)
    await expect(demoTurn(place, { prompt: null })).rejects.toMatchObject({ code: 'no_prompt' })
  })

  it.each<[string, Message[], string]>([
    ['a final answer', [...TURN], 'is answered'],
    ['no message of the user', [system], 'has no message yet'],
  ])('is refused behind %s, and writes nothing', async (_, messages, why) => {
    const place = makePlace()
    const { chat_id, ids } = await seedChat(place, { messages })
    await expect(demoTurn(place, { prompt: null })).rejects.toMatchObject({
      ...{ code: 'no_prompt', kind: 'usage', message: expect.stringContaining(why) },
    })
    expect(Conversation.open(place.root, chat_id).chain('main')).toHaveLength(ids.length)
  })

  it('is refused while a living process answers that message', async () => {
    const place = makePlace()
    const messages = [system, user('do it')]
    const { conversation, chat_id, ids } = await seedChat(place, { messages })
    const writer = await takeWriter(place)
    const standing = { head: 'main', seen: ids.at(-1) ?? null }
    const turn = newMessageId(place)
    await append(place, {
      ...{ conversation, writer, standing },
      steps: [{ type: 'begin', turn, leaf: ids[0] ?? null }],
    })
    await expect(demoTurn(place, { prompt: null })).rejects.toMatchObject({
      code: 'branch_busy',
      kind: 'busy',
    })
    expect(Conversation.open(place.root, chat_id).graph.heads.size).toBe(1)
    await writer.release()
    await demoTurn(place, { prompt: null })
    expect(Conversation.open(place.root, chat_id).chain('main').length).toBeGreaterThan(ids.length)
  })

  it('goes on behind a turn whose process died', async () => {
    const place = makePlace()
    const turns = new Map([1, 2, 3].map((at) => [at, 'T'] as const))
    const { chat_id, ids } = await seedChat(place, { messages: TURN.slice(0, 4), turns })
    const { events } = await demoTurn(place, { prompt: null })
    expect(events[0]).toMatchObject({ message_id: ids[1] })
    const conversation = Conversation.open(place.root, chat_id)
    expect(conversation.graph.openTurns.size).toBe(0)
    const items = conversation.items(conversation.chain('main'), 'whole', 'main')
    expect(items.filter(({ message }) => message.role === 'user')).toHaveLength(1)
    expect(items.at(-1)?.message.notice).toBeUndefined()
  })
})
