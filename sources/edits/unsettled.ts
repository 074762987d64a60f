import { closeSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import { type HoldWait, holdForPath } from '../workspace/hold.ts'
import type { NamelessFile } from './exchange.ts'
import {
  absentSide,
  type FileLook,
  type FoundFile,
  isSameSide,
  lookAt,
  openLook,
  sideOf,
} from './fileState.ts'
import type { Journal } from './journal.ts'
import {
  type FileSide,
  isChange,
  type JournalLine,
  type LineSource,
  makeJournalLine,
  makeVoidLine,
  realPathOf,
} from './journalLine.ts'
import { tempNames } from './publish.ts'
import { holdSnapshots, readSnapshot, storeSnapshot } from './snapshots.ts'

/** What became of a line whose writer died before its result was saved. */
export type Verdict = 'void' | 'stands' | 'unverified'

export interface SettledLine {
  readonly line: JournalLine
  readonly verdict: Verdict
}

/** What only the owner of the conversations knows. */
export interface Liveness {
  /** Whether the process that wrote a line still runs; it may still publish it then. */
  readonly isWriterAlive: (writer: string) => Promise<boolean>
  readonly isMessageInLog: (conversation: string, messageId: string) => Promise<boolean>
}

/** Goes on looking at files that lost their names, and hears of foreign bytes that were stored. */
export interface DisplacedKeeper {
  keep(line: JournalLine, file: NamelessFile): void
  tellKept(file: string, sha256: string): void
}

export interface SettleOptions extends Liveness, LineSource {
  readonly journal: Journal
  /** The process that settles. */
  readonly writer: string
  /** Only lines of this turn; null: of any. Lines of the turn that were taken back before are reported too. */
  readonly turn: string | null
  /** Only lines of this path; null: of any. */
  readonly path: string | null
  /** Null: the caller holds the path, or the whole workspace. */
  readonly wait: HoldWait | null
  /** Omitted: a file whose name is swept away is not looked at again. */
  readonly displaced?: DisplacedKeeper
}

/** The rule: `seen` is the state of the file, or what the next change of the path found there; null: no regular file. */
export function judgeLine(line: JournalLine, seen: FileSide | null): Verdict {
  if (seen !== null && isSameSide(seen, line.before)) return 'void'
  if (seen !== null && isSameSide(seen, line.after)) return 'stands'
  return 'unverified'
}

/**
 * Judges the lines of dead writers whose results are not in the log, takes back those that were never published, and
 * removes what their publication left beside the files. Call it before the save lock is taken.
 */
export async function settleLines(options: SettleOptions): Promise<SettledLine[]> {
  const { journal } = options
  await journal.refresh()
  const settled: SettledLine[] = []
  for (const line of await findUnsettled(options)) {
    if (journal.isVoided(line.id)) settled.push({ line, verdict: 'void' })
    else settled.push(await settleUnderHold(line, options))
  }
  return settled
}

async function findUnsettled(options: SettleOptions): Promise<JournalLine[]> {
  const { journal, turn, path: only } = options
  const alive = new Map<string, boolean>([[options.writer, true]])
  const lines = only === null ? journal.lines.map(({ line }) => line) : journal.linesOf(only)
  const found: JournalLine[] = []
  for (const line of lines) {
    const { conversation, message_id: messageId, writer } = line
    if (line.type !== 'edit' || conversation === undefined || messageId === undefined) continue
    if (turn !== null ? line.turn !== turn : journal.isVoided(line.id)) continue
    const lives = alive.get(writer) ?? (await options.isWriterAlive(writer))
    alive.set(writer, lives)
    if (!lives && !(await options.isMessageInLog(conversation, messageId))) found.push(line)
  }
  return found
}

async function settleUnderHold(line: JournalLine, options: SettleOptions): Promise<SettledLine> {
  const { journal, wait } = options
  const { home, workspace } = journal.place
  const hold = wait === null ? null : await holdForPath({ home, key: workspace.key }, line.path, wait)
  try {
    await journal.refresh()
    if (journal.isVoided(line.id)) return { line, verdict: 'void' }
    return { line, verdict: await settleOne(line, options) }
  } finally {
    await hold?.release()
  }
}

async function settleOne(line: JournalLine, options: SettleOptions): Promise<Verdict> {
  const { journal, writer, displaced } = options
  const file = realPathOf(journal.place.workspace.root, line.path)
  const current = sideOfLook(await lookAt(file, { keepBytes: false, maxBytes: null }))
  const verdict = judgeLine(line, nextBefore(journal, line) ?? current)
  if (verdict === 'void') await journal.append([makeVoidLine(options, writer, line)])
  await sweepTemps({
    ...{ journal, line, writer, current, source: options },
    ...(displaced && { displaced }),
  })
  await journal.refresh()
  return verdict
}

export interface SweepOptions {
  readonly journal: Journal
  readonly line: JournalLine
  readonly writer: string
  /** The state of the file now; null: no regular file. */
  readonly current: FileSide | null
  readonly source: LineSource
  readonly displaced?: DisplacedKeeper
}

/**
 * Removes the temporary files of a line. Bytes that are neither of its sides are stored first, with lines that tell
 * of them and end in the state of the file.
 */
export async function sweepTemps(options: SweepOptions): Promise<void> {
  const { journal, line } = options
  const folder = path.dirname(realPathOf(journal.place.workspace.root, line.path))
  for (const name of tempNames(line.id)) await sweepTemp(path.join(folder, name), options)
}

async function sweepTemp(temp: string, options: SweepOptions): Promise<void> {
  const { journal, line, displaced } = options
  const { fd, look } = await openLook(temp, { keepBytes: true, maxBytes: null })
  if (fd === null) return
  let isHandedOver = false
  try {
    if (look.bytes === null) return
    const known = look.sha256 === line.before.sha256 || look.sha256 === line.after.sha256
    if (!known && !(await isUnfinished(journal.place.home, line, look.bytes))) {
      await keepForeignBytes({ ...options, found: { ...look, bytes: look.bytes } })
    }
    isHandedOver = displaced !== undefined
    displaced?.keep(line, { fd, sha256: look.sha256 })
    unlinkSync(temp)
  } finally {
    if (!isHandedOver) closeSync(fd)
  }
}

export interface ForeignOptions extends SweepOptions {
  readonly found: FoundFile
}

/** Stores bytes that no line accounts for, and says so; `current` ends the chain with what the file is now. */
export async function keepForeignBytes(options: ForeignOptions): Promise<void> {
  const { journal, line, writer, found, current, source, displaced } = options
  const lock = await holdSnapshots(journal.place.home, null)
  try {
    await storeSnapshot(journal.place.home, found.bytes)
    const { chat_id, conversation } = line
    const by = {
      writer,
      ...(chat_id === undefined ? {} : { chat_id }),
      ...(conversation === undefined ? {} : { conversation }),
    }
    const foreign = sideOf(found, true)
    const outside = (before: FileSide, after: FileSide) =>
      makeJournalLine(source, by, { type: 'outside', path: line.path, before, after })
    const first = outside(line.before, foreign)
    await journal.append(
      current === null || isSameSide(current, foreign) ? [first] : [first, outside(foreign, current)],
    )
  } finally {
    await lock.release()
  }
  displaced?.tellKept(line.path, found.sha256)
}

/** A regular file or an absent one as a side; null for anything else. */
export function sideOfLook(look: FileLook): FileSide | null {
  if (look.kind === 'absent') return absentSide
  return look.kind === 'file' ? sideOf(look, false) : null
}

/** What the next change of the path found there: nearer to the moment of the crash than the file as it is now. */
function nextBefore(journal: Journal, line: JournalLine): FileSide | null {
  const lines = journal.linesOf(line.path)
  const at = lines.findIndex((other) => other.id === line.id)
  const next = lines.slice(at + 1).find((other) => isChange(other) && !journal.isVoided(other.id))
  return next?.before ?? null
}

/** Whether these are the first bytes of what the line was about to write: a kill in the middle of writing them. */
async function isUnfinished(home: string, line: JournalLine, bytes: Buffer): Promise<boolean> {
  if (line.after.sha256 === undefined || bytes.length >= (line.after.size ?? 0)) return false
  const whole = await readSnapshot(home, line.after.sha256)
  return whole?.subarray(0, bytes.length).equals(bytes) ?? false
}
