import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import type { LogEntry } from '../../../sources/conversation/entry.ts'
import { readHeadsIndex, readTrustedIndex } from '../../../sources/conversation/headsIndex.ts'
import { listConversationIds, summarize } from '../../../sources/conversation/library.ts'
import {
  conversationsFolder,
  indexPath,
  logPath,
  transcriptPath,
} from '../../../sources/conversation/paths.ts'
import { tryParseRecord } from '../../../sources/conversation/record.ts'
import { saveConversation } from '../../../sources/conversation/save.ts'
import { bringTranscript } from '../../../sources/conversation/transcript.ts'
import { anyMessage, assistant, call, result } from './_messages.ts'
import { CHAT, Client, makeRoot, newChat, newId, now, textStep, textsOf } from './_store.ts'

async function append(client: Client, plan: () => LogEntry[]): Promise<void> {
  await saveConversation(client.conversation, { writer: client.writer, now, plan })
}

function fork(
  client: Client,
  from: string | null,
  name: string | null = null,
): { head: string; entry: LogEntry } {
  const head = newChat()
  const base = { writer: client.writer.id, at: now().toISOString(), head: 'main', new_head: head } as const
  const checkpoint = { record_index: 2, label: 'user: a label' }
  return { head, entry: { ...base, type: 'fork', from, kind: 'fork', name, checkpoint } }
}

/** A conversation with two more branches, one of them concurrent, and a turn with calls. */
async function makeFamily(): Promise<{ root: string; client: Client; heads: string[] }> {
  const root = makeRoot()
  const client = await Client.begin(root)
  const [, question = ''] = await client.say(['system', 'question'])
  const turn = newId()
  await client.save([
    { type: 'begin', turn },
    {
      type: 'message',
      id: newId(),
      turn,
      fs: 1,
      ws: 'w',
      message: assistant('look', call('c', '{"b":1,"a":"é"}')),
    },
    { type: 'message', id: newId(), turn, fs: 2, ws: 'w', message: result('c', 'lone \ud800') },
    { type: 'end', turn },
  ])
  const other = await Client.open(root)
  await client.say(['more'])
  await other.say(['beside'])
  const { head, entry } = fork(client, question, 'try')
  await append(client, () => [entry])
  const branch = await Client.open(root, head)
  await branch.say(['on the branch'])
  return { root, client, heads: ['main', other.standing.head, head] }
}

function derivedFiles(root: string): Map<string, string> {
  const names = readdirSync(conversationsFolder(root)).filter((name) => !/\.(lock|events\.jsonl)$/.test(name))
  return new Map(names.map((name) => [name, readFileSync(`${conversationsFolder(root)}/${name}`, 'latin1')]))
}

describe('derived files', () => {
  it('are the same, byte for byte, when they are made again from the log', async () => {
    const { root, client, heads } = await makeFamily()
    const transcripts = new Map([...derivedFiles(root)].filter(([name]) => name.endsWith('.jsonl')))
    expect(transcripts.size).toBe(3)
    const index = readFileSync(indexPath(root, CHAT), 'utf8')
    for (const name of transcripts.keys()) rmSync(`${conversationsFolder(root)}/${name}`)
    const conversation = Conversation.open(root, CHAT)
    for (const head of heads) await bringTranscript(conversation, head, null)
    expect(new Map([...derivedFiles(root)].filter(([name]) => name.endsWith('.jsonl')))).toEqual(transcripts)
    rmSync(indexPath(root, CHAT))
    const withoutMarks = (heads: ReadonlyArray<object>) =>
      heads.map((record) => ({ ...record, transcript: undefined }))
    const again = summarize(root, CHAT)
    const before = JSON.parse(index)
    expect({ ...again, heads: withoutMarks(again.heads) }).toEqual({
      ...{ ...before, heads: withoutMarks(before.heads), writer_id: '', updated_at: '' },
    })
    // The next save writes both again, with the message that it adds.
    await client.say(['last'])
    expect(readTrustedIndex(root, CHAT)?.heads.map(({ id }) => id)).toEqual(heads)
  })

  it('are the same for any messages, whether they were saved one by one or made at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { minLength: 1, maxLength: 8 }), async (messages) => {
        const root = makeRoot()
        const client = await Client.begin(root)
        for (const message of messages) {
          await client.save([{ type: 'message', id: newId(), turn: null, fs: null, ws: null, message }])
        }
        const before = readFileSync(transcriptPath(root, CHAT))
        rmSync(transcriptPath(root, CHAT))
        await bringTranscript(Conversation.open(root, CHAT), 'main', null)
        expect(readFileSync(transcriptPath(root, CHAT)).equals(before)).toBe(true)
        const lines = before.toString('utf8').trimEnd().split('\n')
        expect(lines.map((line) => tryParseRecord(line)?.type)).not.toContain(undefined)
      }),
      { numRuns: 40 },
    )
  })

  it('have the meta of the other program, and where the branch is from', async () => {
    const { root, heads } = await makeFamily()
    const meta = (head: string) =>
      JSON.parse(readFileSync(transcriptPath(root, head), 'utf8').split('\n')[0] ?? '')
    expect(meta(CHAT)).toEqual({
      ...{ type: 'meta', chat_id: CHAT, created_at: now().toISOString(), model: 'm', cwd: '/w' },
      ...{ conversation: CHAT, head: 'main' },
    })
    const [, concurrent = '', branch = ''] = heads
    expect(meta(branch)).toMatchObject({
      ...{ chat_id: branch, parent_chat_id: CHAT, conversation: CHAT, head: branch },
      branch_from: { chat_id: CHAT, record_index: 2, checkpoint_label: 'user: a label' },
    })
    expect(meta(concurrent)).toMatchObject({
      parent_chat_id: CHAT,
      branch_from: { chat_id: CHAT, record_index: 5 },
    })
  })

  it('keep the second record for a system text, also when there is none', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['question'])
    const records = readFileSync(transcriptPath(root, CHAT), 'utf8').trimEnd().split('\n')
    expect(records.map((line) => JSON.parse(line).type)).toEqual(['meta', 'system', 'user'])
    expect(client.conversation.chain('main').map(({ index }) => index)).toEqual([2])
    expect(client.conversation.recordCount('main')).toBe(3)
  })

  it('are not believed when the log is of another size or generation', async () => {
    const { root } = await makeFamily()
    expect(readTrustedIndex(root, CHAT)).not.toBeNull()
    const index = readHeadsIndex(root, CHAT)
    writeFileSync(indexPath(root, CHAT), JSON.stringify({ ...index, log_generation: 2 }))
    expect(readTrustedIndex(root, CHAT)).toBeNull()
    for (const text of ['', '{', '[]', '{"schema_version":1}', JSON.stringify({ ...index, heads: [{}] })]) {
      writeFileSync(indexPath(root, CHAT), text)
      expect(readTrustedIndex(root, CHAT)).toBeNull()
      expect(summarize(root, CHAT).heads).toHaveLength(3)
    }
  })

  it('cost an append what is new, not what is there', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.save(Array.from({ length: 20_000 }, (_, at) => textStep(newId(), `message ${at}`)))
    const walked: string[] = []
    const nodes = client.conversation.graph.nodes
    const get = nodes.get.bind(nodes)
    nodes.get = (id) => {
      walked.push(id)
      return get(id)
    }
    const read: number[] = []
    const readLines = client.conversation.log.readLines.bind(client.conversation.log)
    client.conversation.log.readLines = (wanted, visit) => {
      read.push(wanted.length)
      readLines(wanted, visit)
    }
    const sizes = () => [logPath(root, CHAT), transcriptPath(root, CHAT)].map((file) => statSync(file).size)
    const before = sizes()
    const position = client.conversation.log.position
    await client.say(['one more'])
    expect(walked.length).toBeLessThan(60)
    expect(read.reduce((sum, count) => sum + count, 0)).toBeLessThan(5)
    expect(client.conversation.log.position - position).toBeLessThan(800)
    expect(sizes().every((size, at) => size - (before[at] ?? 0) < 800)).toBe(true)
  })

  it('have an index of many branches in steps that do not multiply', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.save(Array.from({ length: 600 }, (_, at) => textStep(newId(), `message ${at}`)))
    const ids = client.acknowledged
    await append(client, () => Array.from({ length: 300 }, (_, at) => fork(client, ids[at] ?? null).entry))
    let steps = 0
    const { nodes } = client.conversation.graph
    const get = nodes.get.bind(nodes)
    nodes.get = (id) => {
      steps += 1
      return get(id)
    }
    await client.say(['one more'])
    expect(steps).toBeLessThan(300 * 25)
    expect(readTrustedIndex(root, CHAT)?.heads).toHaveLength(301)
  })
})

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

  it('is told from ours when it was written at the same moment as we did', async () => {
    const { root, client } = await makeFamily()
    const file = transcriptPath(root, CHAT)
    const mark = readHeadsIndex(root, CHAT)?.heads[0]?.transcript
    // Its bytes are there, and its mark says so: as if they came between our look and our write.
    appendFileSync(file, 'foreign\n')
    const { size, mtimeMs, ino } = statSync(file)
    const stale = {
      records: mark?.records ?? 0,
      leaf: mark?.leaf ?? '',
      size,
      mtime_ms: Math.floor(mtimeMs),
      inode: String(ino),
    }
    const index = readHeadsIndex(root, CHAT)
    const heads = index?.heads.map((record) =>
      record.id === 'main' ? { ...record, transcript: { ...stale, leaf: 'else' } } : record,
    )
    writeFileSync(indexPath(root, CHAT), JSON.stringify({ ...index, heads }))
    const { rescued } = await client.save([textStep(newId(), 'after')])
    expect(rescued).toHaveLength(1)
    expect(readFileSync(transcriptPath(root, rescued[0]?.copy ?? ''), 'utf8')).toContain('foreign\n')
  })
})
