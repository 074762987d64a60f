import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkConversation } from '../../../sources/conversation/checkLog.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { findChat, listConversationIds, summarize } from '../../../sources/conversation/library.ts'
import { conversationsFolder, transcriptPath } from '../../../sources/conversation/paths.ts'
import { meta, OLD, oldRecords, oldText, rootWithChat } from './_oldChats.ts'
import { CHAT, Client, linesOf, newId, textStep, textsOf } from './_store.ts'

describe('a chat of another program', () => {
  it('opens as it is, is listed, and is not touched by reading', () => {
    const root = rootWithChat()
    const { mtimeNs, ino } = statSync(transcriptPath(root, OLD), { bigint: true })
    expect(listConversationIds(root)).toEqual([OLD])
    expect(findChat(root, OLD)).toEqual({ conversation: OLD, head: 'main' })
    expect(summarize(root, OLD).heads).toMatchObject([
      { id: 'main', records: 5, turns: 1, preview: 'old question' },
    ])
    expect(textsOf(Conversation.open(root, OLD), 'main')).toEqual([
      'You are Cassady.',
      'old question',
      '',
      'text',
    ])
    expect(checkConversation(root, OLD)).toEqual({ findings: [], messages: 4 })
    expect(statSync(transcriptPath(root, OLD), { bigint: true })).toMatchObject({ mtimeNs, ino })
    expect(readFileSync(transcriptPath(root, OLD), 'utf8')).toBe(oldText())
    expect(readdirSync(conversationsFolder(root))).toEqual([`${OLD}.jsonl`])
  })

  it('gets its log with the first save, under the ids that every reader derives, and its file is gone on with', async () => {
    const root = rootWithChat()
    const ids = Conversation.open(root, OLD)
      .chain('main')
      .map(({ id }) => id)
    const client = await Client.open(root, 'main', OLD)
    const { rescued } = await client.save([textStep(newId(), 'new question')])
    expect(rescued).toEqual([])
    expect(linesOf(root, OLD).map(({ type }) => type)).toEqual([
      ...['log', 'writer', 'message', 'message', 'message', 'message', 'message'],
    ])
    expect(linesOf(root, OLD)[0]).toMatchObject({
      upgraded_from_schema: 1,
      generation: 1,
      meta: { cwd: '/w' },
    })
    const read = Conversation.open(root, OLD)
    expect(read.chain('main').map(({ id }) => id)).toEqual([...ids, client.standing.seen])
    expect(read.oldChat).toBeNull()
    const text = readFileSync(transcriptPath(root, OLD), 'utf8')
    expect(text.startsWith(oldText())).toBe(true)
    expect(text.slice(oldText().length)).toMatch(/^\{"type":"user","content":"new question",[^\n]*\n$/)
    expect((await client.save([textStep(newId(), 'more')])).rescued).toEqual([])
  })

  it('that grew, or has bad lines, is kept as it was beside the log that is made of it', async () => {
    for (const damage of [
      (root: string) =>
        appendFileSync(transcriptPath(root, OLD), oldText([{ type: 'user', content: 'late', ts: '' }])),
      (root: string) => appendFileSync(transcriptPath(root, OLD), '{"type":"user","cont'),
    ]) {
      const root = rootWithChat()
      const client = await Client.open(root, 'main', OLD)
      damage(root)
      const theirs = readFileSync(transcriptPath(root, OLD), 'utf8')
      const { rescued } = await client.save([textStep(newId(), 'new question')])
      const kept = readFileSync(transcriptPath(root, rescued[0]?.copy ?? ''), 'utf8')
      expect(kept.split('\n').slice(1)).toEqual(theirs.split('\n').slice(1))
      expect(textsOf(Conversation.open(root, OLD), 'main')).toContain('new question')
    }
  })

  it('is taken from the log when another process made that meanwhile', async () => {
    const root = rootWithChat()
    const first = await Client.open(root, 'main', OLD)
    const second = await Client.open(root, 'main', OLD)
    await first.say(['of the first'])
    await second.say(['of the second'])
    const read = Conversation.open(root, OLD)
    expect(read.graph.heads.size).toBe(2)
    expect(textsOf(read, 'main').at(-1)).toBe('of the first')
    expect(textsOf(read, second.standing.head).slice(-2)).toEqual(['text', 'of the second'])
    expect(linesOf(root, OLD).filter(({ type }) => type === 'log')).toHaveLength(1)
  })

  it.each([
    ['a first line that is torn', [`{"type":"meta","chat_`, ...oldRecords.slice(1)]],
    ['a byte order mark', [`\ufeff${JSON.stringify(meta)}`, ...oldRecords.slice(1)]],
    ['a blank first line', ['', ...oldRecords]],
  ])('is found and read with %s', (_, records) => {
    const root = rootWithChat(oldText(records))
    expect(listConversationIds(root)).toEqual([OLD])
    expect(findChat(root, OLD)).toEqual({ conversation: OLD, head: 'main' })
    expect(textsOf(Conversation.open(root, OLD), 'main')).toContain('old question')
  })

  it.each([
    [
      'bad UTF-8',
      Buffer.concat([
        Buffer.from(oldText()),
        Buffer.from([0xc3, 0x0a]),
        Buffer.from(oldText(oldRecords.slice(2, 3))),
      ]),
    ],
    [
      'a torn line in the middle',
      oldText([...oldRecords.slice(0, 3), '{"type":"assis', ...oldRecords.slice(2, 3)]),
    ],
    ['an unknown type', oldText([...oldRecords.slice(0, 3), { type: 'weird' }, ...oldRecords.slice(2, 3)])],
  ])('goes on behind %s, which is reported', (_, text) => {
    const root = rootWithChat(text)
    const texts = textsOf(Conversation.open(root, OLD), 'main')
    expect(texts.filter((each) => each === 'old question')).toHaveLength(2)
    expect(checkConversation(root, OLD).findings.map(({ code }) => code)).toEqual(['chat_bad_line'])
  })

  it('of no byte has a clear error, and hides no other', async () => {
    const root = rootWithChat('')
    await (await Client.begin(root)).say(['one'])
    expect(() => Conversation.open(root, OLD)).toThrow(
      expect.objectContaining({ code: 'conversation_empty' }),
    )
    expect(listConversationIds(root)).toContain(CHAT)
    expect(checkConversation(root, OLD).findings).toMatchObject([
      { code: 'conversation_unreadable', severity: 'damage' },
    ])
  })

  it('that has a parent and no message is noted, and one without a parent is damage', () => {
    const check = (records: unknown[]) =>
      checkConversation(rootWithChat(oldText(records)), OLD).findings.map(({ severity, code }) => [
        severity,
        code,
      ])
    const kept = { ...meta, parent_chat_id: CHAT }
    expect(check([kept, 'garbage'])).toEqual([['note', 'chat_without_messages']])
    expect(check([kept])).toEqual([['note', 'chat_without_messages']])
    expect(check([meta, 'garbage'])).toEqual([['damage', 'conversation_unreadable']])
    expect(check([kept, ...oldRecords.slice(1), 'garbage'])).toEqual([['damage', 'chat_bad_line']])
  })
})
