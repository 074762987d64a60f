import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import type { TurnEvent } from '../../../sources/agent/events.ts'
import { planAppend, type Standing, type Step } from '../../../sources/conversation/appendPlan.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { logPath, transcriptPath } from '../../../sources/conversation/paths.ts'
import { saveConversation } from '../../../sources/conversation/save.ts'
import { WriterLock } from '../../../sources/conversation/writers.ts'
import { makeCurrent } from '../../../sources/session/makeCurrent.ts'
import { newChatId, newMessageId, type Place } from '../../../sources/session/place.ts'
import { runTurn, type TurnOptions } from '../../../sources/session/runTurn.ts'
import { assistant, call, result, user } from '../conversation/_messages.ts'

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export const START = new Date('2026-11-30T12:00:00.000Z')

/** A home and a folder to work in, with a clock that goes on by itself and chance that is none. */
export function makePlace(): Place {
  const folder = realpathSync.native(mkdtempSync(path.join(os.tmpdir(), 'cass-session-')))
  folders.push(folder)
  const cwd = path.join(folder, 'work')
  mkdirSync(cwd)
  let ticks = 0
  let draws = 0
  return {
    ...{ root: path.join(folder, 'home'), cwd, home: folder, env: {}, pid: process.pid },
    programFolder: repository,
    now: () => {
      ticks += 1
      return new Date(START.getTime() + ticks)
    },
    random: (bytes) => {
      draws += 1
      return createHash('sha256').update(`${draws}`).digest().subarray(0, bytes)
    },
  }
}

/** The same place, some time later. */
export function later(place: Place, milliseconds: number): Place {
  return { ...place, now: () => new Date(place.now().getTime() + milliseconds) }
}

/** A process that writes; `release` it, and it is dead. */
export async function takeWriter(place: Place, hostname = os.hostname()): Promise<WriterLock> {
  const random8 = Buffer.from(place.random(8))
  return await WriterLock.take(place.root, { hostname, pid: place.pid, random8, now: place.now() })
}

export interface Seeded {
  readonly conversation: Conversation
  readonly chat_id: string
  readonly ids: ReadonlyArray<string>
}

export interface Seed {
  readonly messages: ReadonlyArray<Message>
  /** Message number to the turn that it is in; the first one of a turn begins it. */
  readonly turns?: ReadonlyMap<number, string>
  /** Turns that are ended. */
  readonly ended?: ReadonlyArray<string>
  readonly host?: string
  readonly fs?: number
  readonly ws?: string
}

/** A chat of the folder, its current one, written by a process that is gone. */
export async function seedChat(
  place: Place,
  { messages, turns, ended = [], host, fs, ws }: Seed,
): Promise<Seeded> {
  const chat_id = newChatId(place)
  const meta = { created_at: place.now().toISOString(), model: 'm', cwd: place.cwd }
  const conversation = Conversation.begin(place.root, chat_id, meta)
  const ids = messages.map(() => newMessageId(place))
  const begun = new Set<string>()
  const steps = messages.flatMap((message, at): Step[] => {
    const turn = turns?.get(at) ?? null
    const id = ids[at] ?? ''
    const step: Step = { type: 'message', id, turn, fs: fs ?? 0, ws: ws ?? 'workspace', message }
    if (turn === null || begun.has(turn)) return [step]
    begun.add(turn)
    return [{ type: 'begin', turn }, step]
  })
  const ends = ended.map((turn): Step => ({ type: 'end', turn }))
  const writer = await takeWriter(place, host)
  await append(place, {
    conversation,
    writer,
    standing: { head: 'main', seen: null },
    steps: [...steps, ...ends],
  })
  await writer.release()
  await makeCurrent(place, { seen: null, next: { chat_id, conversation: chat_id } })
  return { conversation: Conversation.open(place.root, chat_id), chat_id, ids }
}

/** Appends as a process at a standing does, and gives where it stands then. */
export async function append(
  place: Place,
  {
    conversation,
    writer,
    standing,
    steps,
  }: {
    readonly conversation: Conversation
    readonly writer: WriterLock
    readonly standing: Standing
    readonly steps: ReadonlyArray<Step>
  },
): Promise<Standing> {
  let next = standing
  const freshHead = newChatId(place)
  await saveConversation(conversation, {
    ...{ writer, now: place.now },
    plan: (graph) => {
      const at = place.now().toISOString()
      const rest = { freshHead, writer: writer.id, at, deadWriters: new Set<string>() }
      const plan = planAppend(graph, { standing, steps, ...rest })
      next = plan.standing
      return plan.entries
    },
  })
  return next
}

/** A turn with two calls in one message and an answer behind them. */
export const TURN: ReadonlyArray<Message> = [
  { role: 'system', content: 'You are a test.', ts: START.toISOString() },
  user('look at both'),
  assistant('I look', call('c1', '{"path":"a"}'), call('c2', '{"path":"b"}')),
  result('c1', 'a is there'),
  result('c2', 'b is there'),
  assistant('both are there'),
]

export function logBytes(place: Place, id: string): Buffer {
  return readFileSync(logPath(place.root, id))
}

export function transcriptBytes(place: Place, id: string): Buffer {
  return readFileSync(transcriptPath(place.root, id))
}

/** The entries of a log, as they are on disk. */
export function entriesOf(place: Place, id: string): Array<Record<string, unknown>> {
  const lines = logBytes(place, id).toString('utf8').split('\n')
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

/** Every file below a folder with its bytes and times. */
export function treeOf(folder: string): Map<string, string> {
  const tree = new Map<string, string>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const file = path.join(folder, name)
    const { mtimeNs, ino } = statSync(file, { bigint: true })
    const bytes = statSync(file).isFile() ? readFileSync(file, 'latin1') : ''
    tree.set(name, `${ino} ${mtimeNs} ${bytes}`)
  }
  return tree
}

/** Runs a turn of the demo model, which looks at the folder, and gives its events. */
export async function demoTurn(place: Place, options: Partial<TurnOptions> = {}) {
  const events: TurnEvent[] = []
  const outcome = await runTurn(place, {
    ...{ prompt: 'hello', target: { type: 'continue' }, overrides: {}, demo: true, maxSteps: null },
    approve: async () => ({ approved: false }),
    emit: (event) => events.push(event),
    signal: new AbortController().signal,
    ...options,
  })
  return { outcome, events }
}
