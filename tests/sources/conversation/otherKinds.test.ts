import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkConversation } from '../../../sources/conversation/checkLog.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { readCurrentBranch, writeCurrentBranch } from '../../../sources/conversation/currentBranch.ts'
import { findChat, listConversationIds, summarize } from '../../../sources/conversation/library.ts'
import {
  conversationsFolder,
  indexPath,
  logPath,
  saveLockPath,
  transcriptPath,
  writersFolder,
} from '../../../sources/conversation/paths.ts'
import { sweepDeadWriters } from '../../../sources/conversation/writers.ts'
import { otherKinds, replaceBy } from '../files/_kinds.ts'
import { makeFamily } from './_family.ts'
import { OLD, rootWithChat } from './_oldChats.ts'
import { CHAT, Client, makeRoot, NOW, newId, textStep } from './_store.ts'

describe.skipIf(process.platform === 'win32').each(otherKinds)('%s in the place of', (_, make, words) => {
  it('a log is an error that names it', async () => {
    const { root } = await makeFamily()
    replaceBy(make, logPath(root, CHAT))
    const error = {
      code: 'conversation_unreadable',
      message: `cannot read '${logPath(root, CHAT)}': ${words}`,
      hint: expect.any(String),
    }
    expect(() => Conversation.open(root, CHAT)).toThrow(expect.objectContaining(error))
    expect(() => summarize(root, CHAT)).toThrow(expect.objectContaining(error))
    expect(listConversationIds(root)).toContain(CHAT)
    expect(checkConversation(root, CHAT).findings).toMatchObject([{ code: 'conversation_unreadable' }])
  })

  it('a log stops a save, and is still there', async () => {
    const { root, client } = await makeFamily()
    replaceBy(make, logPath(root, CHAT))
    await expect(client.save([textStep(newId(), 'after')])).rejects.toMatchObject({
      code: 'conversation_unreadable',
    })
    expect(statSync(logPath(root, CHAT)).isFile()).toBe(false)
  })

  it('an index hides nothing: the log is read, and fsck notes it', async () => {
    const { root, heads } = await makeFamily()
    const before = summarize(root, CHAT).heads.map(({ id }) => id)
    replaceBy(make, indexPath(root, CHAT))
    expect(summarize(root, CHAT).heads.map(({ id }) => id)).toEqual(before)
    for (const head of heads.slice(1)) expect(findChat(root, head)).toEqual({ conversation: CHAT, head })
    expect(checkConversation(root, CHAT).findings).toMatchObject([
      { severity: 'note', code: 'index_unreadable', message: expect.stringContaining(words) },
    ])
    const client = await Client.open(root)
    await client.save([textStep(newId(), 'after')])
    const again = await Client.open(root)
    expect(again.conversation.graph.nodes.size).toBe(client.conversation.graph.nodes.size)
  })

  it('a transcript stops neither the save nor the lists', async () => {
    const { root, client, heads } = await makeFamily()
    const branch = heads[2] ?? ''
    for (const chat of [CHAT, branch]) replaceBy(make, transcriptPath(root, chat))
    const { behind, rescued } = await client.save([textStep(newId(), 'after')])
    expect([rescued, behind]).toEqual([[], expect.stringContaining(transcriptPath(root, CHAT))])
    expect(findChat(root, branch)).toEqual({ conversation: CHAT, head: branch })
    expect(listConversationIds(root)).toEqual([CHAT])
    expect(checkConversation(root, CHAT).findings.map(({ severity }) => severity)).not.toContain('damage')
  })

  it('a chat without a log is an error that names it', () => {
    const root = rootWithChat()
    replaceBy(make, transcriptPath(root, OLD))
    expect(() => Conversation.open(root, OLD)).toThrow(
      expect.objectContaining({
        code: 'conversation_unreadable',
        message: `cannot read the chat '${OLD}': ${words}`,
        hint: expect.any(String),
      }),
    )
  })

  it('a lock is an error with a hint, and the locks of other writers are left alone', async () => {
    const { root, client } = await makeFamily()
    const stray = path.join(
      writersFolder(root),
      `${client.writer.id.replace(/[0-9a-f]{16}$/, '0'.repeat(16))}`,
    )
    make(stray)
    await sweepDeadWriters(root)
    expect(readdirSync(writersFolder(root))).toContain(path.basename(stray))
    replaceBy(make, saveLockPath(root, CHAT))
    await expect(client.save([textStep(newId(), 'after')])).rejects.toMatchObject({
      code: 'lock_unusable',
      message: expect.stringContaining(saveLockPath(root, CHAT)),
      hint: expect.stringMatching(/^move it away/),
    })
    rmSync(stray, { recursive: true })
  })

  it("the file of a folder's current branch is an error that names it", async () => {
    const root = makeRoot()
    const next = { chat_id: CHAT, conversation: CHAT }
    const lockFile = path.join(root, 'locks', 'a')
    await writeCurrentBranch({ root, folder: '/w', seen: null, next, lockFile, now: NOW })
    const file = path.join(root, 'heads', readdirSync(path.join(root, 'heads'))[0] ?? '')
    replaceBy(make, file)
    expect(() => readCurrentBranch(root, '/w')).toThrow(
      expect.objectContaining({
        code: 'current_branch_unreadable',
        message: `cannot read '${file}': ${words}`,
      }),
    )
  })
})

describe('an index that is no index', () => {
  it.each([
    ['garbage', 'nonsense', true],
    ['nothing', '', true],
    ['cut JSON', '{"schema_version":2,', true],
    ['one of another program', '{"schema_version":1}', false],
  ])('hides nothing: %s', async (_, text, isNoted) => {
    const { root, heads } = await makeFamily()
    writeFileSync(indexPath(root, CHAT), text)
    expect(findChat(root, heads[2] ?? '')).not.toBeNull()
    const codes = checkConversation(root, CHAT).findings.map(({ code }) => code)
    expect(codes).toEqual(isNoted ? ['index_unreadable'] : [])
  })
})

describe.skipIf(process.platform === 'win32').each([0o777, 0])('with the umask %o', (umask) => {
  const before = process.umask()
  afterEach(() => process.umask(before))

  it('every file of a conversation is 0600', async () => {
    process.umask(umask)
    const { root, client } = await makeFamily()
    writeFileSync(transcriptPath(root, CHAT), 'foreign\n')
    const { rescued } = await client.save([textStep(newId(), 'after')])
    expect(rescued).toHaveLength(1)
    const folder = conversationsFolder(root)
    const modes = readdirSync(folder).map((name) => [name, statSync(path.join(folder, name)).mode & 0o777])
    expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([])
    expect(modes.length).toBeGreaterThan(5)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })
})
