import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach } from 'vitest'
import { DisplacedFiles, type ForeignBytes } from '../../../sources/edits/displaced.ts'
import type { EditHooks, EditSinkOptions } from '../../../sources/edits/editOptions.ts'
import { type EditSink, makeEditSink } from '../../../sources/edits/editSink.ts'
import { sha256Of } from '../../../sources/edits/fileState.ts'
import { Journal, type JournalPlace, journalFile } from '../../../sources/edits/journal.ts'
import { type JournalLine, parseJournal } from '../../../sources/edits/journalLine.ts'
import { snapshotPath } from '../../../sources/edits/snapshots.ts'
import type { HoldWait } from '../../../sources/workspace/hold.ts'
import { makeWorkspace } from '../../../sources/workspace/root.ts'

const made: string[] = []

const turns: DisplacedFiles[] = []

afterEach(async () => {
  for (const displaced of turns.splice(0)) await displaced.settle()
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A temporary folder that is removed after the test; canonical. */
export function makeFolder(): string {
  const folder = realpathSync.native(mkdtempSync(path.join(os.tmpdir(), 'cass-edits-')))
  made.push(folder)
  return folder
}

/** A home and a workspace beside it. */
export function makePlace(): JournalPlace {
  const folder = makeFolder()
  const root = path.join(folder, 'work')
  mkdirSync(root)
  return { home: path.join(folder, 'home'), workspace: makeWorkspace(root) }
}

export const noWait: HoldWait = { timeoutMs: 10_000, signal: null, onWait: null }
export const testTime = new Date('2026-11-30T12:00:00.000Z')

let ids = 0
/** A source of ids that are not used twice in this process. */
export function newId(): string {
  ids += 1
  return `line-${process.pid}-${ids}`
}

/** What a turn would have; its files are closed after the test. */
export function makeDisplaced(
  place: JournalPlace,
  { onForeign = () => {}, limit }: { onForeign?: (bytes: ForeignBytes) => void; limit?: number } = {},
): DisplacedFiles {
  const displaced = new DisplacedFiles({
    ...{ journal: new Journal(place), writer: 'w1', now: () => testTime, newId, onForeign },
    ...(limit === undefined ? {} : { limit }),
  })
  turns.push(displaced)
  return displaced
}

export interface SinkChanges {
  readonly hooks?: EditHooks
  readonly maxFileBytes?: number
  readonly required?: boolean
  readonly writer?: string
  readonly wait?: HoldWait
  readonly liveness?: EditSinkOptions['liveness']
  readonly displaced?: DisplacedFiles
}

function sinkOptions(place: JournalPlace, changes: SinkChanges = {}): EditSinkOptions {
  return {
    journal: new Journal(place),
    attribution: {
      writer: changes.writer ?? 'w1',
      chat_id: 'chat',
      conversation: 'conv',
      turn: 't1',
      message_id: 'm1',
      tool_call_id: 'call-1',
      tool_name: 'write',
    },
    settings: { maxFileBytes: changes.maxFileBytes ?? 1 << 20, required: changes.required ?? true },
    newFileMode: 0o644,
    wait: changes.wait ?? noWait,
    liveness: changes.liveness ?? { isWriterAlive: async () => true, isMessageInLog: async () => false },
    displaced: changes.displaced ?? makeDisplaced(place),
    now: () => testTime,
    newId,
    ...(changes.hooks === undefined ? {} : { hooks: changes.hooks }),
  }
}

export function makeSink(place: JournalPlace, changes: SinkChanges = {}): EditSink {
  return makeEditSink(sinkOptions(place, changes))
}

/** What a tool does: looks, then publishes. */
export async function writeThrough(sink: EditSink, realPath: string, text: string): Promise<void> {
  const observed = await sink.observe(realPath)
  await sink.publish({ realPath, observed, bytes: Buffer.from(text) })
}

export function readLines(place: JournalPlace): JournalLine[] {
  const file = journalFile(place)
  if (!existsSync(file)) return []
  const { lines, holes } = parseJournal(readFileSync(file))
  if (holes.length > 0) throw new Error(`the journal has holes: ${JSON.stringify(holes)}`)
  return lines.map(({ line }) => line)
}

export function isStored(place: JournalPlace, text: string): boolean {
  const sha256 = sha256Of(Buffer.from(text))
  const file = snapshotPath(place.home, sha256)
  return existsSync(file) && sha256Of(readFileSync(file)) === sha256
}

/** Names of all temporary files below a folder. */
export function tempFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    path.basename(name).startsWith('.cass-'),
  )
}

export function put(folder: string, name: string, text: string, mode = 0o644): string {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

export function modeOf(file: string): number {
  return lstatSync(file).mode & 0o7777
}

export function textOf(file: string): string {
  return readFileSync(file, 'utf8')
}
