import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { findChat, listConversationIds } from '../../../sources/conversation/library.ts'
import { conversationsFolder, logPath, transcriptPath } from '../../../sources/conversation/paths.ts'
import { bringTranscript } from '../../../sources/conversation/transcript.ts'
import { append, fork, makeFamily } from './_family.ts'
import { CHAT, Client, makeRoot, newId, textStep, textsOf } from './_store.ts'

describe('a transcript that somebody else wrote to', () => {
  const foreign = [
    [
      'a record of the other program',
      '{"type":"user","content":"from elsewhere","ts":"2026-06-25T15:15:33+00:00"}\n',
    ],
    ['a record without its end', '{"type":"user","content":"from elsewhere","ts":""}'],
    ['text that is no record', 'my notes\n'],
    ['bytes that are no text', Buffer.from([0xff, 0x00, 0xfe])],
  ] as const

  it.each(foreign)('becomes a chat of its own, and ours is whole: %s', async (_, text) => {
    const { root, client } = await makeFamily()
    const ours = readFileSync(transcriptPath(root, CHAT))
    appendFileSync(transcriptPath(root, CHAT), text)
    const theirs = readFileSync(transcriptPath(root, CHAT))
    const { rescued } = await client.save([textStep(newId(), 'after')])
    expect(rescued).toEqual([{ chat_id: CHAT, copy: expect.stringMatching(/^2026-06-25-101533-/) }])
    const copy = rescued[0]?.copy ?? ''
    const now = readFileSync(transcriptPath(root, CHAT))
    expect(now.subarray(0, ours.length).equals(ours)).toBe(true)
    expect(now.subarray(ours.length).toString('utf8')).toMatch(/^\{"type":"user","content":"after"[^\n]*\n$/)
    // Behind its own first line the copy has every byte.
    const bytes = readFileSync(transcriptPath(root, copy))
    const behind = (file: Buffer) => file.subarray(file.indexOf(0x0a) + 1)
    expect(behind(bytes).equals(behind(theirs))).toBe(true)
    expect(JSON.parse(bytes.subarray(0, bytes.indexOf(0x0a)).toString('utf8'))).toEqual({
      ...{
        type: 'meta',
        chat_id: copy,
        created_at: expect.any(String),
        model: 'm',
        cwd: '/w',
        parent_chat_id: CHAT,
      },
    })
    expect(listConversationIds(root)).toEqual([CHAT, copy].toSorted())
    expect(textsOf(Conversation.open(root, copy), 'main').slice(0, 2)).toEqual(['', 'system'])
    expect((await client.save([textStep(newId(), 'again')])).rescued).toEqual([])
  })

  it.each([
    [
      'in the middle',
      (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('question', 'answer!!')),
    ],
    ['at the first line', (file: string) => writeFileSync(file, `x${readFileSync(file, 'utf8')}`)],
    ['as a whole', (file: string) => writeFileSync(file, 'nothing of ours\n')],
  ])('is kept when it was changed %s', async (_, change) => {
    const { root, client } = await makeFamily()
    const ours = readFileSync(transcriptPath(root, CHAT))
    change(transcriptPath(root, CHAT))
    utimesSync(transcriptPath(root, CHAT), 1, 1)
    const theirs = readFileSync(transcriptPath(root, CHAT), 'utf8')
    const { rescued } = await client.save([textStep(newId(), 'after')])
    expect(readFileSync(transcriptPath(root, CHAT)).subarray(0, ours.length).equals(ours)).toBe(true)
    const kept = readFileSync(transcriptPath(root, rescued[0]?.copy ?? ''), 'utf8')
    expect(kept.endsWith(theirs.split('\n').slice(1).join('\n'))).toBe(true)
    if (!theirs.startsWith('{"type":"meta"')) expect(kept.endsWith(theirs)).toBe(true)
  })

  it('is completed when it is only shorter, at every byte', async () => {
    const { root, client } = await makeFamily()
    const file = transcriptPath(root, CHAT)
    const whole = readFileSync(file)
    const conversation = Conversation.open(root, CHAT)
    for (let size = 0; size <= whole.length; size++) {
      truncateSync(file, 0)
      appendFileSync(file, whole.subarray(0, size))
      const { rescuedAs } = await bringTranscript(conversation, 'main', null)
      expect({ size, rescuedAs, same: readFileSync(file).equals(whole) }).toEqual({
        size,
        rescuedAs: null,
        same: true,
      })
    }
    expect(client.forks).toBe(0)
  })

  it('is kept, with the text that the log lost, and has what comes after that', async () => {
    const { root, client } = await makeFamily()
    const log = readFileSync(logPath(root, CHAT), 'utf8')
    writeFileSync(
      logPath(root, CHAT),
      log.replace(/\n[^\n]*"more"[^\n]*\n/, (line) => `\n${'?'.repeat(line.length - 2)}\n`),
    )
    const after = await Client.open(root)
    const { rescued } = await after.save([textStep(newId(), 'after the damage')])
    const texts = (id: string) => readFileSync(transcriptPath(root, id), 'utf8')
    expect(texts(rescued[0]?.copy ?? '')).toContain('"more"')
    expect(texts(CHAT)).toContain('after the damage')
    expect(texts(CHAT).trimEnd().split('\n')).toHaveLength(after.conversation.recordCount('main'))
    expect(client.forks).toBe(0)
  })

  it('is there in one of two files when the process dies between any two steps', async () => {
    const { root, client } = await makeFamily()
    const file = transcriptPath(root, CHAT)
    appendFileSync(file, 'foreign\n')
    const theirs = readFileSync(file, 'utf8').split('\n').slice(1).join('\n')
    const { conversation } = client
    const items = conversation.items.bind(conversation)
    const dies = Object.assign(new Error('killed'), { code: 'KILLED' })
    let isDead = false
    // Ours is made when theirs is saved already.
    conversation.items = (nodes, detail, head) => {
      const names = readdirSync(conversationsFolder(root)).map(
        (name) => `${conversationsFolder(root)}/${name}`,
      )
      const holders = names.filter((name) => readFileSync(name, 'utf8').endsWith(theirs))
      if (detail === 'whole' && holders.length === 2) isDead = true
      if (isDead) throw dies
      return items(nodes, detail, head)
    }
    expect((await client.save([textStep(newId(), 'after')])).behind).toBe('killed')
    expect(isDead).toBe(true)
    conversation.items = items
    const { rescued } = await client.save([textStep(newId(), 'again')])
    expect(rescued).toHaveLength(1)
    expect(readFileSync(transcriptPath(root, rescued[0]?.copy ?? ''), 'utf8').endsWith(theirs)).toBe(true)
    // The chat that the first try saved is the one that the second try found.
    expect(listConversationIds(root)).toHaveLength(2)
  })

  it('is told from ours when it was written at the same moment as we did', async () => {
    const { root, client } = await makeFamily()
    const file = transcriptPath(root, CHAT)
    const { conversation } = client
    const items = conversation.items.bind(conversation)
    let isWritten = false
    // Between our look at the file and our write.
    conversation.items = (nodes, detail, head) => {
      if (detail === 'whole' && !isWritten) appendFileSync(file, 'foreign\n')
      isWritten ||= detail === 'whole'
      return items(nodes, detail, head)
    }
    expect((await client.save([textStep(newId(), 'after')])).rescued).toEqual([])
    const { rescued } = await client.save([textStep(newId(), 'and more')])
    expect(readFileSync(transcriptPath(root, rescued[0]?.copy ?? ''), 'utf8')).toContain('foreign\n')
    const ours = readFileSync(file, 'utf8')
    expect(ours).not.toContain('foreign')
    expect(ours.trimEnd().split('\n')).toHaveLength(conversation.recordCount('main'))
  })
})

describe('a transcript of a long branch', () => {
  it('is copied up to 16 MB, and above that made with the first message of its own', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    const [small = ''] = await client.say(['short'])
    await client.say(Array.from({ length: 6 }, (_, at) => `${at}`.repeat(3 * 1024 * 1024)))
    const long = client.acknowledged.at(-1) ?? null
    const branches = [fork(client, small), fork(client, long)] as const
    await append(client, () => branches.map(({ entry }) => entry))
    const isThere = ({ head }: { head: string }) => existsSync(transcriptPath(root, head))
    expect(branches.map(isThere)).toEqual([true, false])
    expect(findChat(root, branches[1].head)).toEqual({ conversation: CHAT, head: branches[1].head })
    const branch = await Client.open(root, branches[1].head)
    await branch.say(['its own'])
    expect(isThere(branches[1])).toBe(true)
    expect(readFileSync(transcriptPath(root, branches[1].head), 'utf8').trimEnd().split('\n')).toHaveLength(
      2 + 8,
    )
  })
})
