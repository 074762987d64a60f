import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { readCurrentBranch } from '../../../sources/conversation/currentBranch.ts'
import { LogFile } from '../../../sources/conversation/logFile.ts'
import { createBranch } from '../../../sources/session/createBranch.ts'
import { listBranches } from '../../../sources/session/listBranches.ts'
import { listChats } from '../../../sources/session/listChats.ts'
import { listCheckpoints } from '../../../sources/session/listCheckpoints.ts'
import { readBranchLog } from '../../../sources/session/readBranchLog.ts'
import { renameBranch } from '../../../sources/session/renameBranch.ts'
import { retireBranch } from '../../../sources/session/retireBranch.ts'
import { switchBranch } from '../../../sources/session/switchBranch.ts'
import { user } from '../conversation/_messages.ts'
import {
  append,
  entriesOf,
  later,
  logBytes,
  makePlace,
  seedChat,
  TURN,
  takeWriter,
  transcriptBytes,
  treeOf,
} from './_session.ts'

const turns = new Map([1, 2, 3, 4, 5].map((at) => [at, 'T'] as const))

async function makeChat() {
  const place = makePlace()
  const seeded = await seedChat(place, { messages: TURN, turns, ended: ['T'], fs: 7, ws: 'k' })
  return { place, ...seeded }
}

describe('a branch', () => {
  it.each([
    ['1:start', 1, []],
    ['2:user', 2, []],
    ['3:assistant', 3, ['c1', 'c2']],
    ['3:tool_call:c1', 3, ['c1', 'c2']],
    ['3:tool_call:c2', 4, ['c2']],
    ['4:tool_result:c1', 4, ['c2']],
    ['5:tool_result:c2', 5, []],
    ['6:assistant', 6, []],
  ])(
    'at %s leaves its source byte for byte, and has results for all calls',
    async (where, shared, repaired) => {
      const { place, chat_id, ids } = await makeChat()
      const log = logBytes(place, chat_id)
      const transcript = transcriptBytes(place, chat_id)
      const branch = await createBranch(place, {
        checkpoint: `${chat_id}:${where}`,
        name: null,
        switchTo: false,
      })
      expect(logBytes(place, chat_id).subarray(0, log.length).equals(log)).toBe(true)
      expect(transcriptBytes(place, chat_id).equals(transcript)).toBe(true)
      expect(branch).toMatchObject({ kind: 'fork', parent: chat_id, repaired, from: chat_id, current: false })
      expect(branch.branch_from).toMatchObject({ chat_id, message_id: ids[shared - 1] })
      const conversation = Conversation.open(place.root, chat_id)
      const items = conversation.items(conversation.chain(branch.chat_id), 'whole', branch.chat_id)
      expect(items.slice(0, shared).map(({ id }) => id)).toEqual(ids.slice(0, shared))
      expect(items.slice(shared)).toMatchObject(
        repaired.map((tool_call_id) => ({
          ...{ head: branch.chat_id, turn: null, fs: 7, ws: 'k' },
          message: { role: 'tool', tool_call_id, ok: false, notice: 'not_run' },
        })),
      )
      // Nothing but what the branch is made of, and the selection that was there in effect before.
      expect(
        entriesOf(place, chat_id)
          .slice(-2 - repaired.length)
          .map(({ type, head }) => [type, head]),
      ).toEqual([['fork', 'main'], ...repaired.map(() => ['message', branch.chat_id]), ['select', 'main']])
      const source = transcript.toString('utf8').split('\n')
      const copy = transcriptBytes(place, branch.chat_id).toString('utf8').split('\n')
      expect(copy.slice(1, 1 + shared)).toEqual(source.slice(1, 1 + shared))
      expect(branch.records).toBe(1 + shared + repaired.length)
      const written = entriesOf(place, chat_id).length
      const second = await createBranch(place, {
        checkpoint: `${chat_id}:${where}`,
        name: null,
        switchTo: false,
      })
      expect(second.chat_id).not.toBe(branch.chat_id)
      // Its writer, the branch, its results; the selection is there now.
      expect(entriesOf(place, chat_id).length - written).toBe(2 + repaired.length)
    },
  )

  it('is made of a branch, and of a branch of that', async () => {
    const { place, chat_id, ids } = await makeChat()
    const first = await createBranch(place, { checkpoint: `${chat_id}:2:user`, name: 'one', switchTo: true })
    const second = await createBranch(place, { checkpoint: '@', name: 'two', switchTo: true })
    expect(second).toMatchObject({ current: true, name: 'two' })
    const conversation = Conversation.open(place.root, chat_id)
    expect(conversation.chain(second.chat_id).map(({ id }) => id)).toEqual(ids.slice(0, 2))
    const { branches, current } = await listBranches(place, { all: false, retired: false })
    expect(branches.map(({ name }) => name)).toEqual([null, 'one', 'two'])
    expect(current).toBe(second.chat_id)
    expect(first.current).toBe(true)
    expect(branches.find(({ name }) => name === 'one')).toMatchObject({ covered: true, current: false })
  })

  it('becomes the current one with a selection in the log, when that is asked for', async () => {
    const { place, chat_id } = await makeChat()
    const branch = await createBranch(place, { checkpoint: `${chat_id}:2:user`, name: 'try', switchTo: true })
    expect(entriesOf(place, chat_id).at(-1)).toMatchObject({
      type: 'select',
      head: branch.chat_id,
      reason: 'fork',
    })
    expect(readCurrentBranch(place.root, place.cwd)).toEqual({
      chat_id: branch.chat_id,
      conversation: chat_id,
    })
    expect(branch).toMatchObject({ current: true, name: 'try' })
  })

  it('has a name of its own in the family, also when two are made at once', async () => {
    const { place, chat_id } = await makeChat()
    const make = (name: string) =>
      createBranch(place, { checkpoint: `${chat_id}:2:user`, name, switchTo: false })
    const made = await Promise.allSettled([make('same'), make('same'), make('same')])
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    await expect(make('same')).rejects.toMatchObject({ code: 'branch_name_taken', kind: 'usage' })
    await expect(make('a b')).rejects.toMatchObject({ code: 'bad_branch_name', kind: 'usage' })
    expect(entriesOf(place, chat_id).filter(({ type }) => type === 'fork')).toHaveLength(1)
    await make('other')
    await expect(renameBranch(place, { branch: 'other', name: 'same' })).rejects.toMatchObject({
      code: 'branch_name_taken',
    })
    expect(await renameBranch(place, { branch: 'other', name: 'new' })).toMatchObject({ name: 'new' })
    const written = entriesOf(place, chat_id).length
    expect(await renameBranch(place, { branch: 'new', name: 'new' })).toMatchObject({ name: 'new' })
    expect(entriesOf(place, chat_id)).toHaveLength(written)
    expect(await make('other')).toMatchObject({ name: 'other' })
  })

  it('is not made at what is none, and nothing is written then', async () => {
    const { place, chat_id } = await makeChat()
    const before = logBytes(place, chat_id)
    for (const [checkpoint, code] of [
      [`${chat_id}:9:user`, 'checkpoint_not_found'],
      [`${chat_id}:2:assistant`, 'checkpoint_not_found'],
      [`${chat_id}:3:tool_call:nope`, 'checkpoint_not_found'],
      ['nobody', 'branch_not_found'],
      ['../../evil:2:user', 'branch_not_found'],
    ] as const) {
      const making = createBranch(place, { checkpoint, name: null, switchTo: true })
      await expect(making).rejects.toMatchObject({ code })
    }
    expect(logBytes(place, chat_id).equals(before)).toBe(true)
  })

  it('is switched to, with a selection in the log unless it is there', async () => {
    const { place, chat_id } = await makeChat()
    const branch = await createBranch(place, {
      checkpoint: `${chat_id}:2:user`,
      name: 'try',
      switchTo: false,
    })
    expect(await switchBranch(place, { branch: 'try' })).toMatchObject({
      chat_id: branch.chat_id,
      previous: chat_id,
    })
    expect(entriesOf(place, chat_id).at(-1)).toMatchObject({
      type: 'select',
      head: branch.chat_id,
      reason: 'switch',
    })
    const written = entriesOf(place, chat_id).length
    await switchBranch(place, { branch: 'try' })
    expect(entriesOf(place, chat_id)).toHaveLength(written)
    await switchBranch(place, { branch: chat_id })
    expect(readCurrentBranch(place.root, place.cwd)?.chat_id).toBe(chat_id)
    await expect(switchBranch(place, { branch: 'nobody' })).rejects.toMatchObject({
      code: 'branch_not_found',
    })
  })

  it('is chosen by one of two that switch at once, and the other one hears it', async () => {
    const { place, chat_id } = await makeChat()
    for (const name of ['one', 'two'])
      await createBranch(place, { checkpoint: `${chat_id}:2:user`, name, switchTo: false })
    const both = await Promise.allSettled([
      switchBranch(place, { branch: 'one' }),
      switchBranch(place, { branch: 'two' }),
    ])
    const [lost] = both.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(lost).toMatchObject({ code: 'current_branch_changed', kind: 'busy' })
    const [won] = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(readCurrentBranch(place.root, place.cwd)?.chat_id).toBe(won?.chat_id)
  })

  it('is not switched to when the selection cannot be saved', async () => {
    const { place, chat_id } = await makeChat()
    await createBranch(place, { checkpoint: `${chat_id}:2:user`, name: 'try', switchTo: false })
    const appending = vi.spyOn(LogFile.prototype, 'append').mockImplementation(() => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    })
    try {
      await expect(switchBranch(place, { branch: 'try' })).rejects.toMatchObject({ code: 'save_failed' })
    } finally {
      appending.mockRestore()
    }
    expect(readCurrentBranch(place.root, place.cwd)?.chat_id).toBe(chat_id)
    expect(await switchBranch(place, { branch: 'try' })).toMatchObject({ previous: chat_id })
  })

  it('is retired only when it has nothing of its own, is nowhere current, and was quiet for a minute', async () => {
    const { place, chat_id } = await makeChat()
    const { chat_id: branch } = await createBranch(place, {
      ...{ checkpoint: `${chat_id}:3:assistant`, name: 'try', switchTo: true },
    })
    const after = later(place, 61_000)
    const retire = (where = after) => retireBranch(where, { branch })
    await expect(retire()).rejects.toMatchObject({ code: 'branch_is_current', kind: 'refused' })
    await expect(retireBranch(after, { branch: chat_id })).rejects.toMatchObject({ code: 'branch_not_empty' })
    await switchBranch(place, { branch: chat_id })
    await expect(retire(place)).rejects.toMatchObject({ code: 'branch_busy', kind: 'busy' })
    expect(await retire()).toMatchObject({ retired: true })
    const written = logBytes(place, chat_id)
    expect(await retire()).toMatchObject({ retired: true })
    expect(logBytes(place, chat_id).equals(written)).toBe(true)
    expect((await listBranches(place, { all: false, retired: false })).branches).toHaveLength(1)
    expect((await listBranches(place, { all: false, retired: true })).branches).toHaveLength(2)
    await expect(switchBranch(place, { branch })).rejects.toMatchObject({
      code: 'branch_retired',
      kind: 'refused',
    })
    // Its name is free again.
    expect(await createBranch(place, { checkpoint: '@', name: 'try', switchTo: false })).toMatchObject({
      name: 'try',
    })
  })

  it('with a message of its own is never retired, nor one that a turn is open on', async () => {
    const { place, chat_id } = await makeChat()
    const make = () => createBranch(place, { checkpoint: `${chat_id}:2:user`, name: null, switchTo: false })
    const [full, open] = [await make(), await make()]
    const conversation = Conversation.open(place.root, chat_id)
    const writer = await takeWriter(place)
    const at = (head: string) => ({ head, seen: conversation.head(head).leaf })
    const message = {
      type: 'message',
      id: 'own',
      turn: null,
      fs: null,
      ws: null,
      message: user('mine'),
    } as const
    await append(place, { conversation, writer, standing: at(full.chat_id), steps: [message] })
    await append(place, {
      conversation,
      writer,
      standing: at(open.chat_id),
      steps: [{ type: 'begin', turn: 'U' }],
    })
    const after = later(place, 61_000)
    await expect(retireBranch(after, { branch: full.chat_id })).rejects.toMatchObject({
      code: 'branch_not_empty',
    })
    await expect(retireBranch(after, { branch: open.chat_id })).rejects.toMatchObject({ code: 'branch_busy' })
    await writer.release()
  })
})

describe('reading commands', () => {
  it('change no byte of the home, whatever is open or missing', async () => {
    const place = makePlace()
    const { chat_id } = await seedChat(place, { messages: TURN.slice(0, 4), turns })
    await createBranch(place, { checkpoint: `${chat_id}:2:user`, name: 'try', switchTo: false })
    const before = treeOf(place.root)
    await listBranches(place, { all: true, retired: true })
    await listChats(place, { all: true, search: 'BOTH' })
    await listCheckpoints(place, { branch: 'try', family: true, kinds: null, limit: null })
    await readBranchLog(place, { branch: null, last: 3, all: true })
    expect(treeOf(place.root)).toEqual(before)
    expect(readdirSync(path.join(place.root, 'locks', 'writers'))).toEqual([])
  })

  it('tell that a turn is open, and find text in any branch', async () => {
    const place = makePlace()
    const { chat_id } = await seedChat(place, { messages: TURN.slice(0, 4), turns })
    const { branches } = await listBranches(place, { all: false, retired: false })
    expect(branches).toMatchObject([{ chat_id, open_turn: true, turns: 1, preview: 'look at both' }])
    const found = async (search: string) => (await listChats(place, { all: false, search })).chats.length
    expect(await found('A IS THERE')).toBe(1)
    expect(await found('b is there')).toBe(0)
    expect(await found('You are a test')).toBe(0)
  })
})
