import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkConversation } from '../../../sources/conversation/checkLog.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import {
  isCurrentAnywhere,
  readCurrentBranch,
  writeCurrentBranch,
} from '../../../sources/conversation/currentBranch.ts'
import { familyOf, findChat, listConversationIds, summarize } from '../../../sources/conversation/library.ts'
import {
  conversationsFolder,
  indexPath,
  logPath,
  transcriptPath,
} from '../../../sources/conversation/paths.ts'
import { CHAT, Client, linesOf, makeRoot, newId, now, rootWithLog, textStep, textsOf } from './_store.ts'

const OLD = '2026-06-25-101533-0ld_'
const meta = {
  ...{ type: 'meta', chat_id: OLD, created_at: '2026-06-25T15:15:33.123456789+00:00', model: 'm', cwd: '/w' },
}
const oldRecords = [
  meta,
  { type: 'system', content: 'You are Cassady.' },
  { type: 'user', content: 'old question', ts: '2026-06-25T15:15:34+00:00' },
  {
    ...{ type: 'assistant', content: '', reasoning: '', ts: '2026-06-25T15:15:35+00:00' },
    tool_calls: [{ id: 'call_0', name: 'read', arguments: { path: 'a' } }],
  },
  {
    type: 'tool',
    tool_call_id: 'call_0',
    name: 'read',
    ok: true,
    content: 'text',
    ts: '2026-06-25T15:15:36+00:00',
  },
]

function oldText(records: ReadonlyArray<unknown> = oldRecords): string {
  return records.map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('')
}

function rootWithChat(text: string | Buffer = oldText(), id = OLD): string {
  const root = makeRoot()
  mkdirSync(conversationsFolder(root), { recursive: true })
  writeFileSync(transcriptPath(root, id), text)
  return root
}

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
})

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
      expect(checkConversation(root, CHAT).findings).toEqual([])
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

describe('the current branch of a folder', () => {
  const one = { chat_id: CHAT, conversation: CHAT }
  const two = { chat_id: OLD, conversation: OLD }
  const change = (root: string, seen: typeof one | null, next: typeof one) =>
    writeCurrentBranch({
      root,
      folder: '/w',
      seen,
      next,
      lockFile: path.join(root, 'locks', 'op'),
      now: now(),
    })

  it('is written only over what the process last saw', async () => {
    const root = makeRoot()
    expect(readCurrentBranch(root, '/w')).toBeNull()
    expect(await change(root, null, one)).toBe(true)
    expect(await change(root, null, two)).toBe(false)
    expect(readCurrentBranch(root, '/w')).toEqual(one)
    expect(await change(root, two, one)).toBe(true)
    expect(await change(root, one, two)).toBe(true)
    expect(readCurrentBranch(root, '/w')).toEqual(two)
    expect(readCurrentBranch(root, '/other')).toBeNull()
    expect([isCurrentAnywhere(root, CHAT), isCurrentAnywhere(root, OLD)]).toEqual([false, true])
  })

  it('is one of those that are written at once', async () => {
    const root = makeRoot()
    const all = await Promise.all([change(root, null, one), change(root, null, two), change(root, null, one)])
    const winner = readCurrentBranch(root, '/w')
    expect(all).toEqual([one, two, one].map((next) => next.chat_id === winner?.chat_id))
  })

  it('is none when its file is damaged or names what no chat can be', async () => {
    const root = makeRoot()
    await change(root, null, one)
    const [name = ''] = readdirSync(path.join(root, 'heads'))
    const file = path.join(root, 'heads', name)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    for (const text of ['', '{', '[]', '{"chat_id":7}', '{"chat_id":"../x","conversation":"y"}']) {
      writeFileSync(file, text)
      expect(readCurrentBranch(root, '/w')).toBeNull()
      expect(isCurrentAnywhere(root, CHAT)).toBe(false)
    }
    expect(await change(root, null, two)).toBe(true)
    rmSync(file)
    mkdirSync(file)
    expect(() => readCurrentBranch(root, '/w')).toThrow(
      expect.objectContaining({ code: 'current_branch_unreadable' }),
    )
    chmodSync(file, 0o700)
  })
})

describe('a check', () => {
  it('names holes, gaps, damaged texts, torn ends, open turns and foreign transcripts', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['zero', 'one', 'two', 'three'])
    await client.save([{ type: 'begin', turn: newId() }, textStep(newId(), 'four')])
    expect(checkConversation(root, CHAT).findings.map(({ code }) => code)).toEqual(['turn_open'])
    const lines = readFileSync(logPath(root, CHAT), 'utf8').split('\n')
    lines[3] = 'garbage'
    lines[4] = lines[4]?.replace('"content":"two"', '"content":"two""') ?? ''
    writeFileSync(logPath(root, CHAT), `${lines.join('\n')}{"torn`)
    writeFileSync(transcriptPath(root, CHAT), 'not ours')
    const { findings, messages } = checkConversation(root, CHAT)
    expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
      ['log_hole', 'damage'],
      ['log_gap', 'damage'],
      ['message_damaged', 'damage'],
      ['log_torn', 'note'],
      ['turn_open', 'note'],
      ['transcript_foreign', 'note'],
    ])
    expect(messages).toBe(4)
    expect(textsOf(Conversation.open(root, CHAT), 'main')).toEqual([
      ...['zero', '[this message is damaged in the log]', 'three', 'four'],
    ])
  })
})
