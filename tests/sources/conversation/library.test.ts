import { existsSync, mkdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkConversation } from '../../../sources/conversation/checkLog.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { familyOf, findChat, listConversationIds } from '../../../sources/conversation/library.ts'
import {
  conversationsFolder,
  indexPath,
  logPath,
  transcriptPath,
} from '../../../sources/conversation/paths.ts'
import { meta, OLD, oldRecords, oldText, rootWithChat } from './_oldChats.ts'
import { CHAT, Client, makeRoot, newId, now, rootWithLog, textStep, textsOf } from './_store.ts'

describe('a chat id', () => {
  it('finds its branch by the log, the transcript, the index, or the log alone', async () => {
    const root = makeRoot()
    const first = await Client.begin(root)
    await first.say(['shared'])
    const second = await Client.open(root)
    await first.say(['one'])
    await second.say(['two'])
    const found = { conversation: CHAT, head: second.standing.head }
    const find = () => findChat(root, second.standing.head)
    expect(findChat(root, CHAT)).toEqual({ conversation: CHAT, head: 'main' })
    expect(find()).toEqual(found)
    unlinkSync(transcriptPath(root, second.standing.head))
    expect(find()).toEqual(found)
    unlinkSync(indexPath(root, CHAT))
    expect(find()).toEqual(found)
    expect(listConversationIds(root)).toEqual([CHAT])
    expect(findChat(root, 'nobody')).toBeNull()
  })

  it('of a branch whose transcript begins with garbage is no chat of another program', async () => {
    const root = makeRoot()
    const first = await Client.begin(root)
    await first.say(['shared'])
    const second = await Client.open(root)
    await first.say(['one'])
    await second.say(['two'])
    writeFileSync(transcriptPath(root, second.standing.head), 'garbage\n')
    expect(listConversationIds(root)).toEqual([CHAT])
    expect(findChat(root, second.standing.head)).toEqual({ conversation: CHAT, head: second.standing.head })
  })

  it.each(['', '.', '..', '../x', 'a/b', 'a\\b', 'a\0b', 'a\nb', `${CHAT}.events`, 'x'.repeat(300)])(
    'that cannot be a file name finds nothing and opens nothing: %j',
    async (id) => {
      const root = makeRoot()
      await (await Client.begin(root)).say(['one'])
      expect(findChat(root, id)).toBeNull()
      expect(() => Conversation.open(root, id)).toThrow(
        expect.objectContaining({ code: 'bad_id', kind: 'usage' }),
      )
    },
  )

  it('that a log of another program gives a head names no file outside', async () => {
    const line = (keys: object) =>
      `${JSON.stringify({ schema_version: 2, writer: 'w', at: now().toISOString(), ...keys })}\n`
    for (const head of ['../../evil', `${OLD}.events`]) {
      const root = rootWithLog(
        line({ type: 'log', generation: 1 }) +
          line({ type: 'message', id: newId(), head, msgs: [{ role: 'user', content: 'hi' }] }),
      )
      const other = await Client.begin(root, OLD)
      await other.say(['mine'])
      const before = readFileSync(logPath(root, OLD))
      const client = await Client.open(root, head)
      const { behind } = await client.save([textStep(newId(), 'on it')])
      expect(behind).toMatch(/cannot be the id of a chat/)
      expect(textsOf(Conversation.open(root, CHAT), head)).toEqual(['hi', 'on it'])
      expect(readFileSync(logPath(root, OLD)).equals(before)).toBe(true)
      expect(existsSync(path.join(root, 'evil.jsonl'))).toBe(false)
      expect(checkConversation(root, CHAT).findings).toMatchObject([
        {
          ...{ severity: 'note', code: 'head_unusable', subject: CHAT },
          message: expect.stringContaining(`'${head}'`),
        },
      ])
    }
  })
})

describe('a family', () => {
  it('is joined by parents over any number of steps, with or without transcripts, and circles do no harm', async () => {
    const root = rootWithChat(oldText([{ ...meta, parent_chat_id: CHAT }, ...oldRecords.slice(1)]))
    await (await Client.begin(root)).say(['one'])
    const chat = (id: string, parent: string) =>
      writeFileSync(
        transcriptPath(root, id),
        oldText([{ ...meta, chat_id: id, parent_chat_id: parent }, ...oldRecords.slice(1)]),
      )
    const [a = '', b = '', c = '', d = ''] = ['a', 'b', 'c', 'd'].map(
      (name) => `2026-06-25-101533-000${name}`,
    )
    chat(a, OLD)
    chat(b, a)
    chat(c, d)
    chat(d, c)
    expect(familyOf(root, CHAT).toSorted()).toEqual([CHAT, OLD, a, b].toSorted())
    expect(familyOf(root, b).toSorted()).toEqual([CHAT, OLD, a, b].toSorted())
    expect(familyOf(root, c).toSorted()).toEqual([c, d])
    await (await Client.open(root, 'main', a)).say(['makes a log'])
    unlinkSync(transcriptPath(root, a))
    expect(familyOf(root, CHAT).toSorted()).toEqual([CHAT, OLD, a, b].toSorted())
  })
})

describe('a place that cannot be read', () => {
  it.each([
    ['the log is a folder', (root: string) => [rmSync(logPath(root, CHAT)), mkdirSync(logPath(root, CHAT))]],
    [
      'the log is of another format',
      (root: string) => writeFileSync(logPath(root, CHAT), '{"schema_version":9,"type":"log"}\n'),
    ],
  ])('has a clear error when %s, and others are still listed', async (_, damage) => {
    const root = rootWithChat()
    const client = await Client.begin(root)
    await client.say(['one'])
    damage(root)
    expect(() => Conversation.open(root, CHAT)).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^(conversation_unreadable|log_unknown_schema)$/),
      }),
    )
    await expect(client.say(['two'])).rejects.toMatchObject({
      code: expect.stringMatching(/^(conversation_unreadable|log_unknown_schema)$/),
    })
    expect(listConversationIds(root)).toEqual([CHAT, OLD].toSorted())
    expect(checkConversation(root, CHAT).findings).toMatchObject([{ code: 'conversation_unreadable' }])
    expect(findChat(root, OLD)).not.toBeNull()
    expect(familyOf(root, OLD)).toEqual([OLD])
  })

  it('is told when a file is where the folder of conversations should be', async () => {
    const root = makeRoot()
    writeFileSync(conversationsFolder(root), '')
    expect(() => listConversationIds(root)).toThrow(expect.objectContaining({ code: 'home_unreadable' }))
    await expect((await Client.begin(root)).say(['one'])).rejects.toMatchObject({ code: 'EEXIST' })
  })

  it('is empty when nothing was ever saved', () => {
    const root = makeRoot()
    expect(listConversationIds(root)).toEqual([])
    expect(() => Conversation.open(root, CHAT)).toThrow(
      expect.objectContaining({ code: 'conversation_not_found' }),
    )
    expect(existsSync(conversationsFolder(root))).toBe(false)
  })
})
