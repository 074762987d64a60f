import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TurnEvent } from '../../../sources/agent/events.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { readCurrentBranch } from '../../../sources/conversation/currentBranch.ts'
import { makeWriterId } from '../../../sources/conversation/ids.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { DisplacedFiles } from '../../../sources/edits/displaced.ts'
import { makeEditSink } from '../../../sources/edits/editSink.ts'
import { sha256Of } from '../../../sources/edits/fileState.ts'
import { Journal } from '../../../sources/edits/journal.ts'
import { snapshotPath } from '../../../sources/edits/snapshots.ts'
import { newMessageId, type Place, workspaceOf } from '../../../sources/session/place.ts'
import { TurnLog, type TurnNotice } from '../../../sources/session/turnLog.ts'
import { assistant, call, user } from '../conversation/_messages.ts'
import {
  append,
  demoTurn,
  entriesOf,
  logBytes,
  makePlace,
  type Seeded,
  seedChat,
  TURN,
  takeWriter,
} from './_session.ts'

const turns = new Map([1, 2, 3, 4, 5].map((at) => [at, 'T'] as const))

function messagesOf(place: Place, chat: string, head = 'main'): ReadonlyArray<Message & { id: string }> {
  const conversation = Conversation.open(place.root, chat)
  return conversation
    .items(conversation.chain(head), 'whole', head)
    .map(({ id, message }) => ({ ...message, id }))
}

function interrupted(messages: ReadonlyArray<Message>): string[] {
  return messages.flatMap(({ notice, role, tool_call_id }) =>
    notice === 'interrupted' ? [tool_call_id ?? role] : [],
  )
}

describe('a turn whose process died', () => {
  it.each([
    ['the user message', 2, ['assistant']],
    ['the calls', 3, ['c1', 'c2', 'assistant']],
    ['the first result', 4, ['c2', 'assistant']],
    ['the last result', 5, ['assistant']],
    ['the answer', 6, []],
  ])(
    'behind %s is completed by the next one on its branch, once, and all before it stays',
    async (_, kept, added) => {
      const place = makePlace()
      const { chat_id } = await seedChat(place, { messages: TURN.slice(0, kept), turns })
      const before = logBytes(place, chat_id)
      await demoTurn(place)
      expect(logBytes(place, chat_id).subarray(0, before.length).equals(before)).toBe(true)
      const messages = messagesOf(place, chat_id)
      expect(messages.slice(0, kept).map(({ content }) => content)).toEqual(
        TURN.slice(0, kept).map(({ content }) => content),
      )
      expect(interrupted(messages.slice(kept, kept + added.length))).toEqual(added)
      expect(messages[kept + added.length]).toMatchObject({ role: 'user', content: 'hello' })
      const ends = entriesOf(place, chat_id).filter(({ type, turn }) => type === 'turn_end' && turn === 'T')
      expect(ends).toHaveLength(1)
      const conversation = Conversation.open(place.root, chat_id)
      expect([...conversation.graph.openTurns.keys()]).toEqual([])
      expect(conversation.graph.heads.size).toBe(1)
      for (const id of conversation.chain('main').slice(kept, kept + added.length)) expect(id.turn).toBe('T')
      await demoTurn(place)
      expect(interrupted(messagesOf(place, chat_id))).toEqual(added)
    },
  )

  it('before its user message needs only its end', async () => {
    const place = makePlace()
    const { conversation, chat_id, ids } = await seedChat(place, { messages: TURN, turns, ended: ['T'] })
    const writer = await takeWriter(place)
    const standing = { head: 'main', seen: ids.at(-1) ?? null }
    await append(place, { conversation, writer, standing, steps: [{ type: 'begin', turn: 'U' }] })
    await writer.release()
    await demoTurn(place)
    expect(interrupted(messagesOf(place, chat_id))).toEqual([])
    expect(Conversation.open(place.root, chat_id).graph.openTurns.size).toBe(0)
  })

  it('is completed once by two that come at once, one of which goes on beside it', async () => {
    const place = makePlace()
    const { chat_id } = await seedChat(place, { messages: TURN.slice(0, 3), turns })
    const both = await Promise.all([demoTurn(place), demoTurn(place)])
    const { graph } = Conversation.open(place.root, chat_id)
    expect(graph.heads.size).toBe(2)
    const all = [...graph.nodes.values()].filter(({ turn }) => turn === 'T')
    expect(all).toHaveLength(2 + 3)
    expect(graph.openTurns.size).toBe(0)
    const notices = both.map(({ events }) =>
      events.filter((event) => event.type === 'notice').map(({ code }) => code),
    )
    expect(notices.flat()).toContain('session_concurrent_writer')
    expect(interrupted(messagesOf(place, chat_id))).toEqual(['c1', 'c2', 'assistant'])
  })

  it('stays as it is for one who goes on beside its branch, and is completed by the next on it', async () => {
    const place = makePlace()
    const { chat_id, ids } = await seedChat(place, { messages: TURN.slice(0, 4), turns })
    const target = { type: 'branch', branch: chat_id, seen: ids[0] ?? '' } as const
    const { outcome } = await demoTurn(place, { target })
    expect(outcome.chat_id).not.toBe(chat_id)
    const beside = messagesOf(place, chat_id, outcome.chat_id)
    expect(beside.map(({ role, content }) => `${role} ${content}`).slice(0, 2)).toEqual([
      ...['system You are a test.', 'user hello'],
    ])
    expect(interrupted(beside)).toEqual([])
    expect(messagesOf(place, chat_id).map(({ id }) => id)).toEqual(ids)
    await demoTurn(place, { target: { type: 'branch', branch: chat_id } })
    expect(interrupted(messagesOf(place, chat_id))).toEqual(['c2', 'assistant'])
  })

  it('of another host counts as living: the next one goes on beside it, and changes nothing there', async () => {
    const place = makePlace()
    const { chat_id, ids } = await seedChat(place, { messages: TURN.slice(0, 4), turns, host: 'far-away' })
    const { outcome, events } = await demoTurn(place)
    expect(outcome.chat_id).not.toBe(chat_id)
    expect(events.find((event) => event.type === 'notice')).toMatchObject({
      ...{ code: 'session_concurrent_writer', chat_id: outcome.chat_id },
    })
    expect(messagesOf(place, chat_id).map(({ id }) => id)).toEqual(ids)
    expect([...Conversation.open(place.root, chat_id).graph.openTurns.keys()]).toEqual(['T'])
    // Beside the whole turn: at the message that its user message stands behind.
    expect(messagesOf(place, chat_id, outcome.chat_id).slice(0, 2)).toMatchObject([
      { id: ids[0] },
      { role: 'user', content: 'hello' },
    ])
  })

  it.each([
    ['as the call made it', 'new', 'The file was changed by it.'],
    ['as it was before', 'old', 'No file was changed by it.'],
    ['like neither', 'other', 'Whether it changed a file is not known.'],
    ['gone', null, 'Whether it changed a file is not known.'],
  ])(
    'has the result of its edit under the id that the journal names, with the file %s',
    async (_, found, told) => {
      const place = makePlace()
      const file = path.join(place.cwd, 'a.txt')
      writeFileSync(file, 'old')
      const messages = [TURN[0], user('write'), assistant('', call('c1', '{}', 'write'))] as Message[]
      const { chat_id } = await seedChat(place, { messages, turns })
      const id = newMessageId(place)
      const workspace = workspaceOf(place)
      mkdirSync(path.join(place.root, 'workspaces', workspace.key), { recursive: true })
      const journal = new Journal({ home: place.root, workspace })
      const source = { now: place.now, newId: () => newMessageId(place) }
      const displaced = new DisplacedFiles({ ...source, journal, writer: 'w', onForeign: () => {} })
      const sink = makeEditSink({
        ...source,
        ...{ journal, displaced },
        attribution: {
          ...{ writer: makeWriterId(os.hostname(), 7, Buffer.alloc(8, 7)), chat_id },
          ...{ conversation: chat_id, turn: 'T', message_id: id, tool_call_id: 'c1', tool_name: 'write' },
        },
        settings: { maxFileBytes: 1 << 20, required: true },
        newFileMode: 0o644,
        wait: { timeoutMs: null, signal: null, onWait: null },
        liveness: { isWriterAlive: async () => true, isMessageInLog: async () => false },
      })
      const observed = await sink.observe(file)
      await sink.publish({ realPath: file, observed, bytes: Buffer.from('new') })
      await displaced.settle()
      if (found === null) rmSync(file)
      else writeFileSync(file, found)
      await demoTurn(place)
      const result = messagesOf(place, chat_id)[3]
      expect(result).toMatchObject({ id, role: 'tool', tool_call_id: 'c1', ok: false, notice: 'interrupted' })
      expect(result?.content).toContain(told)
      const count = messagesOf(place, chat_id).length
      await demoTurn(place)
      expect(
        messagesOf(place, chat_id)
          .slice(0, count)
          .filter((message) => message.id === id),
      ).toHaveLength(1)
    },
  )
})

describe('a turn', () => {
  it.each([['tool_result'], ['assistant_chunk']])(
    'keeps what another program writes into a file that it replaced, at a %s, and says so before it ends',
    async (at) => {
      const place = makePlace()
      const file = path.join(place.cwd, 'NOTES.md')
      writeFileSync(file, 'mine\n')
      const log = openSync(file, 'a')
      const events: TurnEvent[] = []
      let isWritten = false
      const emit = (event: TurnEvent) => {
        const isReplaced = events.some(({ type }) => type === 'tool_result') || event.type === 'tool_result'
        if (isReplaced && event.type === at && !isWritten) {
          writeSync(log, 'foreign-tag\n')
          isWritten = true
        }
        events.push(event)
      }
      try {
        await demoTurn(place, {
          ...{ prompt: 'write a note', target: { type: 'new' } },
          overrides: { access_mode: 'workspace-edit' },
          emit,
        })
      } finally {
        closeSync(log)
      }
      const sha256 = sha256Of(Buffer.from('mine\nforeign-tag\n'))
      expect(readFileSync(snapshotPath(place.root, sha256), 'utf8')).toBe('mine\nforeign-tag\n')
      expect(readFileSync(file, 'utf8')).toContain('# Notes')
      expect(events.filter(({ type }) => type === 'notice')).toEqual([
        {
          ...{ type: 'notice', code: 'foreign_bytes_kept', chat_id: null },
          text: `another program wrote to 'NOTES.md' while it was being changed; what it wrote is kept as snapshot ${sha256}`,
        },
      ])
      expect(events.at(-1)?.type).toBe('turn_finished')
    },
  )

  it('begins a chat that becomes the current one, with its messages in order and its end', async () => {
    const place = makePlace()
    const { outcome, events } = await demoTurn(place, { target: { type: 'new' } })
    const { chat_id } = outcome
    expect(readCurrentBranch(place.root, place.cwd)).toEqual({ chat_id, conversation: chat_id })
    expect(
      entriesOf(place, chat_id)
        .map(({ type }) => type)
        .slice(0, 5),
    ).toEqual([...['log', 'writer', 'message', 'turn_begin', 'message']])
    expect(entriesOf(place, chat_id).at(-1)).toMatchObject({ type: 'turn_end' })
    expect(events[0]).toMatchObject({
      type: 'session_started',
      chat_id,
      message_id: messagesOf(place, chat_id)[1]?.id,
    })
    expect(events.at(-1)).toMatchObject({
      ...{ type: 'turn_finished', chat_id, records: messagesOf(place, chat_id).length + 1 },
    })
    expect(outcome.tip).toBe(messagesOf(place, chat_id).at(-1)?.id)
  })

  it('without a prompt answers the last message of the user, and refuses where there is none', async () => {
    const place = makePlace()
    const { chat_id, ids } = await seedChat(place, { messages: [...TURN, user('hello?')] })
    await demoTurn(place, { prompt: null })
    const messages = messagesOf(place, chat_id)
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(2)
    expect(messages[TURN.length + 1]?.role).toBe('assistant')
    const begin = entriesOf(place, chat_id).find(({ type }) => type === 'turn_begin')
    expect(begin).toMatchObject({ leaf: ids[TURN.length - 1] })
    await expect(demoTurn(place, { prompt: null })).rejects.toMatchObject({
      code: 'no_prompt',
      kind: 'usage',
    })
  })

  it('leaves the current branch where it is, on a branch that it was named', async () => {
    const place = makePlace()
    const first = await seedChat(place, { messages: TURN })
    const { outcome } = await demoTurn(place, { target: { type: 'new' } })
    expect(readCurrentBranch(place.root, place.cwd)?.chat_id).toBe(outcome.chat_id)
    await demoTurn(place, { target: { type: 'branch', branch: first.chat_id } })
    expect(readCurrentBranch(place.root, place.cwd)?.chat_id).toBe(outcome.chat_id)
  })

  it('is told of a branch that another process began beside it, as soon as it saves', async () => {
    const place = makePlace()
    const seeded = await seedChat(place, { messages: TURN })
    const ours = await openLog(place, seeded)
    await ours.log.save(() => [
      { type: 'begin', turn: 'U' },
      ours.log.step({ id: newMessageId(place), turn: 'U', message: user('ours') }),
    ])
    const theirs = await openLog(place, seeded)
    await theirs.log.save(() => [
      theirs.log.step({ id: newMessageId(place), turn: null, message: user('theirs') }),
    ])
    expect(theirs.notices).toMatchObject([{ code: 'session_concurrent_writer', chat_id: theirs.log.chatId }])
    expect(theirs.log.head).not.toBe('main')
    await theirs.log.save(() => [
      theirs.log.step({ id: newMessageId(place), turn: null, message: user('more') }),
    ])
    expect(theirs.notices).toHaveLength(1)
    expect(ours.notices).toEqual([])
    await ours.log.save(() => [
      ours.log.step({ id: newMessageId(place), turn: 'U', message: assistant('ours too') }),
    ])
    expect(ours.notices).toMatchObject([{ code: 'session_concurrent_writer', chat_id: theirs.log.chatId }])
    expect(ours.log.head).toBe('main')
    await ours.release()
    await theirs.release()
    expect(Conversation.open(place.root, seeded.chat_id).graph.heads.size).toBe(2)
  })

  it('is told once that its transcript cannot be written, and is saved all the same', async () => {
    const place = makePlace()
    const seeded = await seedChat(place, { messages: TURN })
    const file = path.join(place.root, 'conversations', `${seeded.chat_id}.jsonl`)
    rmSync(file)
    mkdirSync(file)
    const { log, notices, release } = await openLog(place, seeded)
    for (const text of ['one', 'two'])
      await log.save(() => [log.step({ id: newMessageId(place), turn: null, message: user(text) })])
    expect(notices.map(({ code }) => code)).toEqual(['transcript_behind'])
    expect(messagesOf(place, seeded.chat_id).slice(-2)).toMatchObject([
      { content: 'one' },
      { content: 'two' },
    ])
    await release()
  })
})

/** A process that stands at the tip of a chat. */
async function openLog(place: Place, { chat_id }: Seeded) {
  const writer = await takeWriter(place)
  const conversation = Conversation.open(place.root, chat_id)
  const notices: TurnNotice[] = []
  const log = new TurnLog({
    ...{ place, conversation, writer, journal: { home: place.root, workspace: workspaceOf(place) } },
    standing: { head: 'main', seen: conversation.head('main').leaf },
    onNotice: (notice) => notices.push(notice),
  })
  return { log, notices, release: () => writer.release() }
}
