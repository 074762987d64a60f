import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { readHeadsIndex, readTrustedIndex } from '../../../sources/conversation/headsIndex.ts'
import { summarize } from '../../../sources/conversation/library.ts'
import {
  conversationsFolder,
  indexPath,
  logPath,
  transcriptPath,
} from '../../../sources/conversation/paths.ts'
import { tryParseRecord } from '../../../sources/conversation/record.ts'
import { bringTranscript } from '../../../sources/conversation/transcript.ts'
import { append, derivedFiles, fork, makeFamily } from './_family.ts'
import { anyMessage } from './_messages.ts'
import { CHAT, Client, makeRoot, newId, now, textStep } from './_store.ts'

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
