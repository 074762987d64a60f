import { appendFileSync, existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkConversation } from '../../../sources/conversation/checkLog.ts'
import { makeWriterId } from '../../../sources/conversation/ids.ts'
import { sweepLeftovers } from '../../../sources/conversation/leftovers.ts'
import { listConversationIds } from '../../../sources/conversation/library.ts'
import { conversationsFolder, transcriptPath, writersFolder } from '../../../sources/conversation/paths.ts'
import { kill, startLocker, useLockers } from '../files/_processes.ts'
import { makeFamily } from './_family.ts'
import { CHAT, Client, HOST, makeRoot, NOW, newId, takeWriter, textStep } from './_store.ts'

useLockers()

const hex = '0123456789ab'
const dead = makeWriterId(HOST, 8, Buffer.alloc(8, 1))
const sweep = (root: string) => sweepLeftovers(root, { hostname: HOST, now: NOW })
const names = (root: string) => readdirSync(conversationsFolder(root)).toSorted()

/** Writes a file beside the conversations, so long before now. */
function leave(root: string, name: string, minutes: number): void {
  const file = path.join(conversationsFolder(root), name)
  writeFileSync(file, 'left')
  const seconds = NOW.getTime() / 1000 - minutes * 60
  utimesSync(file, seconds, seconds)
}

describe('a sweep', () => {
  it('removes new logs of dead writers and old new indices, and nothing else', async () => {
    const { root } = await makeFamily()
    const living = await takeWriter(root)
    const before = names(root)
    const swept = [`${CHAT}.events.jsonl.${dead}`, `other.events.jsonl.${dead}`]
    const old = [`${CHAT}.event-index.json.${hex}.tmp`]
    const kept = [
      `${CHAT}.events.jsonl.${living.id}`,
      `${CHAT}.events.jsonl.${makeWriterId('far-away', 8, Buffer.alloc(8, 1))}`,
      `${CHAT}.events.jsonl.backup`,
      `${CHAT}.events.jsonl.${dead}.bak`,
      `${CHAT}.event-index.json.${hex}.tmp.bak`,
      `${CHAT}.event-index.json.${hex}0.tmp`,
      `${CHAT}.event-index.json.${hex.toUpperCase()}.tmp`,
      `${CHAT}.event-index.json.tmp`,
      `${CHAT}.jsonl.${hex}.tmp`,
      `${CHAT}.jsonl.${hex}.tmp.aside`,
      `${CHAT}.events.jsonl.${hex}.tmp`,
      `notes.${hex}.tmp`,
      `${dead}`,
    ]
    for (const name of [...swept, ...kept]) leave(root, name, 61)
    for (const name of old) leave(root, name, 61)
    leave(root, 'young.event-index.json.ba9876543210.tmp', 59)
    await sweep(root)
    expect(names(root)).toEqual([...before, ...kept, 'young.event-index.json.ba9876543210.tmp'].toSorted())
    await living.release()
    await sweep(root)
    expect(names(root)).not.toContain(`${CHAT}.events.jsonl.${living.id}`)
  })

  it('keeps the new log of a process until that is killed', async () => {
    const { root } = await makeFamily()
    const name = `new.events.jsonl.${dead}`
    const { child } = await startLocker(path.join(writersFolder(root), dead))
    leave(root, name, 600)
    await sweep(root)
    expect(names(root)).toContain(name)
    await kill(child)
    await sweep(root)
    expect(names(root)).not.toContain(name)
  })

  it('is nothing where there are no conversations, and two may come at once', async () => {
    await sweep(makeRoot())
    const { root } = await makeFamily()
    const before = names(root)
    for (let count = 0; count < 50; count++) leave(root, `${count}.events.jsonl.${dead}`, 0)
    await Promise.all([sweep(root), sweep(root), sweep(root)])
    expect(names(root)).toEqual(before)
  })
})

describe('what was left of the exchange of a transcript', () => {
  it.each(['tmp', 'tmp.aside'])(
    'in a %s, by another program, is a chat before it is removed',
    async (end) => {
      const { root } = await makeFamily()
      const file = `${transcriptPath(root, CHAT)}.${hex}.${end}`
      const foreign = `${readFileSync(transcriptPath(root, CHAT), 'utf8')}foreign\n`
      writeFileSync(file, foreign)
      expect(checkConversation(root, CHAT).findings).toMatchObject([
        { severity: 'note', code: 'transcript_leftover', subject: CHAT },
      ])
      const { rescued } = await (await Client.open(root)).save([textStep(newId(), 'after')])
      expect(rescued).toEqual([{ chat_id: CHAT, copy: expect.stringMatching(/^2026-06-25-101533-/) }])
      const copy = rescued[0]?.copy ?? ''
      expect(listConversationIds(root)).toContain(copy)
      const behind = (text: string) => text.slice(text.indexOf('\n'))
      expect(behind(readFileSync(transcriptPath(root, copy), 'utf8'))).toBe(behind(foreign))
      expect(existsSync(file)).toBe(false)
      expect(checkConversation(root, CHAT).findings).toEqual([])
      expect((await (await Client.open(root)).save([textStep(newId(), 'again')])).rescued).toEqual([])
    },
  )

  it('is looked for by a process once, and again when the transcript was touched', async () => {
    const { root } = await makeFamily()
    const file = `${transcriptPath(root, CHAT)}.${hex}.tmp`
    const client = await Client.open(root)
    await client.save([textStep(newId(), 'first')])
    writeFileSync(file, 'left\n')
    expect((await client.save([textStep(newId(), 'second')])).rescued).toEqual([])
    utimesSync(transcriptPath(root, CHAT), 1, 1)
    expect((await client.save([textStep(newId(), 'third')])).rescued).toHaveLength(1)
    expect(existsSync(file)).toBe(false)
  })

  it('is only removed when it is a beginning of ours', async () => {
    const { root } = await makeFamily()
    const ours = readFileSync(transcriptPath(root, CHAT))
    for (const size of [0, 1, Math.floor(ours.length / 2), ours.length]) {
      const file = `${transcriptPath(root, CHAT)}.${hex}.tmp`
      writeFileSync(file, ours.subarray(0, size))
      expect((await (await Client.open(root)).save([textStep(newId(), 'after')])).rescued).toEqual([])
      expect(existsSync(file)).toBe(false)
    }
  })

  it('is kept for the chat that it belongs to, also one whose id begins alike', async () => {
    const { root, heads } = await makeFamily()
    const other = heads[1] ?? ''
    const files = [
      `${transcriptPath(root, other)}.${hex}.tmp`,
      `${transcriptPath(root, `${CHAT}.x`)}.${hex}.tmp`,
    ]
    for (const file of files) writeFileSync(file, 'foreign')
    expect((await (await Client.open(root)).save([textStep(newId(), 'after')])).rescued).toEqual([])
    expect(files.map((file) => existsSync(file))).toEqual([true, true])
    expect(checkConversation(root, CHAT).findings.map(({ code, subject }) => [code, subject])).toEqual([
      ['transcript_leftover', other],
    ])
  })

  it('goes with foreign text in the transcript itself: each is a chat', async () => {
    const { root } = await makeFamily()
    writeFileSync(`${transcriptPath(root, CHAT)}.${hex}.tmp`, 'left\n')
    appendFileSync(transcriptPath(root, CHAT), 'appended\n')
    const { rescued } = await (await Client.open(root)).save([textStep(newId(), 'after')])
    const texts = rescued.map(({ copy }) => readFileSync(transcriptPath(root, copy), 'utf8'))
    expect(texts).toHaveLength(2)
    expect(texts[0]).toMatch(/\nleft\n$/)
    expect(texts[1]).toMatch(/\nappended\n$/)
  })
})
