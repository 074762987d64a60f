import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach } from 'vitest'
import { planAppend, type Standing, type Step } from '../../../sources/conversation/appendPlan.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import type { Graph } from '../../../sources/conversation/graph.ts'
import { makeMessageId } from '../../../sources/conversation/ids.ts'
import { type LogWrites, realWrites } from '../../../sources/conversation/logFile.ts'
import { conversationsFolder, logPath } from '../../../sources/conversation/paths.ts'
import { type SaveResult, saveConversation } from '../../../sources/conversation/save.ts'
import { WriterLock } from '../../../sources/conversation/writers.ts'
import { user } from './_messages.ts'

const folders: string[] = []
const writers: WriterLock[] = []

afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.release()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export const HOST = 'test-host'
export const CHAT = '2026-06-25-101533-a_-9'
export const NOW = new Date('2026-11-30T12:00:00.000Z')
export const now = () => NOW
export const META = { created_at: NOW.toISOString(), model: 'm', cwd: '/w' }

/** A temporary folder that is removed after the test; canonical. */
export function makeRoot(): string {
  const folder = realpathSync.native(mkdtempSync(path.join(os.tmpdir(), 'cass-store-')))
  folders.push(folder)
  return folder
}

let count = 0
/** Bytes that differ from each other in many bits, and are the same in every run. */
function bytes(length: number): Buffer {
  count += 1
  return createHash('sha256').update(`test ${count}`).digest().subarray(0, length)
}

export function newId(): string {
  return makeMessageId(NOW.getTime(), bytes(10))
}

export function newChat(): string {
  count += 1
  return `2026-11-30-120000-${count.toString(36).padStart(4, '0')}`
}

/** A process that writes, as far as others can tell. */
export async function takeWriter(root: string): Promise<WriterLock> {
  const writer = await WriterLock.take(root, { hostname: HOST, pid: 7, random8: bytes(8), now: NOW })
  writers.push(writer)
  return writer
}

export function textStep(id: string, content: string, turn: string | null = null): Step {
  return { type: 'message', id, turn, fs: 0, ws: 'workspace', message: user(content) }
}

/** A process at a branch: it saves as the program does, and keeps what was acknowledged. */
export class Client {
  readonly root: string
  readonly writer: WriterLock
  readonly conversation: Conversation
  readonly acknowledged: string[]
  standing: Standing
  deadWriters: ReadonlySet<string> = new Set()
  freshHead = newChat()
  forks = 0

  constructor(root: string, writer: WriterLock, conversation: Conversation, standing: Standing) {
    this.root = root
    this.writer = writer
    this.conversation = conversation
    this.standing = standing
    this.acknowledged =
      conversation.graph.heads.size === 0 ? [] : conversation.chain(standing.head).map(({ id }) => id)
  }

  /** A chat of its own. */
  static async begin(root: string, id = CHAT): Promise<Client> {
    const conversation = Conversation.begin(root, id, META)
    return new Client(root, await takeWriter(root), conversation, { head: 'main', seen: null })
  }

  /** Opens a branch and stands at its tip. */
  static async open(root: string, head = 'main', id = CHAT): Promise<Client> {
    const conversation = Conversation.open(root, id)
    return new Client(root, await takeWriter(root), conversation, {
      head,
      seen: conversation.head(head).leaf,
    })
  }

  /** Saves texts, each with an id of its own, and gives the ids. */
  async say(texts: ReadonlyArray<string>, writes: LogWrites = realWrites): Promise<string[]> {
    const steps = texts.map((text) => textStep(newId(), text))
    await this.save(steps, writes)
    return steps.flatMap((step) => (step.type === 'message' ? [step.id] : []))
  }

  async save(steps: ReadonlyArray<Step>, writes: LogWrites = realWrites): Promise<SaveResult> {
    let standing = this.standing
    let forked = false
    const plan = (graph: Graph) => {
      const { writer, freshHead, deadWriters } = this
      const at = NOW.toISOString()
      const input = { standing: this.standing, steps, freshHead, writer: writer.id, at, deadWriters }
      const planned = planAppend(graph, input)
      standing = planned.standing
      forked ||= planned.concurrent !== null
      return planned.entries
    }
    const result = await saveConversation(this.conversation, { writer: this.writer, now, plan, writes })
    if (forked) {
      this.forks += 1
      this.freshHead = newChat()
    }
    this.standing = standing
    for (const step of steps) if (step.type === 'message') this.acknowledged.push(step.id)
    return result
  }
}

export type Fault =
  | { readonly type: 'short'; readonly bytes: number }
  | { readonly type: 'full'; readonly bytes: number }
  | { readonly type: 'sync' }

/** Writes of which the first ones fail as told; a fault with more bytes than there are lets all of them through. */
export function failing(faults: ReadonlyArray<Fault>): LogWrites {
  const rest = [...faults]
  return {
    write(fd, all) {
      const fault = rest[0]
      if (fault === undefined || fault.type === 'sync') return realWrites.write(fd, all)
      rest.shift()
      const part = all.subarray(0, Math.min(fault.bytes, all.length - 1))
      if (part.length > 0) realWrites.write(fd, part)
      if (fault.type === 'full') throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      return part.length
    },
    sync(fd) {
      if (rest[0]?.type !== 'sync') return realWrites.sync(fd)
      rest.shift()
      throw Object.assign(new Error('i/o error'), { code: 'EIO' })
    },
  }
}

/** The lines of a log, parsed; a line that is no JSON throws. */
export function linesOf(root: string, id = CHAT): Array<Record<string, unknown>> {
  const text = readFileSync(logPath(root, id), 'utf8')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

/** A root with a log of these bytes and nothing else. */
export function rootWithLog(log: string | Buffer, id = CHAT): string {
  const root = makeRoot()
  mkdirSync(conversationsFolder(root), { recursive: true })
  writeFileSync(logPath(root, id), log)
  return root
}

/** The texts of a branch, oldest first. */
export function textsOf(conversation: Conversation, head: string): string[] {
  return conversation
    .items(conversation.chain(head), 'whole', head)
    .map(({ message: { content } }) => content)
}
