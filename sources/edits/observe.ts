import path from 'node:path'
import { assertNever, errnoOf } from '../errors.ts'
import { type HoldWait, holdForPath } from '../workspace/hold.ts'
import { missingFolders } from './anchor.ts'
import { absentSide, type FileLook, isLookOf, lookAt, type RegularFile, sideOf } from './fileState.ts'
import type { Journal } from './journal.ts'
import {
  type Attribution,
  type FileSide,
  type GapReason,
  isChange,
  type JournalLine,
  type LineContent,
  type LineSource,
  makeJournalLine,
  realPathOf,
} from './journalLine.ts'
import { findDiffering } from './seen.ts'
import { holdSnapshots, storeSnapshot } from './snapshots.ts'
import { type DisplacedKeeper, type Liveness, settleLines } from './unsettled.ts'

export interface ObserveOptions extends LineSource, Liveness {
  readonly journal: Journal
  /** The conversations whose files are looked at. */
  readonly family: ReadonlySet<string>
  /** Who looks: `outside` lines carry it. */
  readonly attribution: Attribution
  /** Larger files are only hashed, with a gap. */
  readonly maxFileBytes: number
  /** Null: the caller holds the whole workspace. */
  readonly wait: HoldWait | null
  readonly displaced?: DisplacedKeeper
}

/**
 * Looks at every file that a family has changed, and writes down what others did to them since. Gives the new lines.
 */
export async function observeTracked(options: ObserveOptions): Promise<JournalLine[]> {
  const { journal, family, now } = options
  await journal.refresh()
  const lines: JournalLine[] = []
  for (const file of await findDiffering(journal, journal.trackedPaths(family), now)) {
    lines.push(...(await observeUnderHold(file, options)))
  }
  return lines
}

/**
 * What a journal must say of a file that is not as its last line tells; nothing when it is. The bytes of `look` are
 * stored. The caller holds the path and the snapshots.
 */
export async function planOutside(
  journal: Journal,
  file: string,
  look: FileLook,
  maxFileBytes: number,
): Promise<LineContent[]> {
  const last = journal.lastChange(file)
  if (last === null || isLookOf(look, last.after)) return []
  const before = last.after
  const gap = (reason: GapReason, after: FileSide): LineContent => ({
    type: 'gap',
    path: file,
    before,
    after,
    reason,
  })
  const outside = (after: FileSide): LineContent => ({ type: 'outside', path: file, before, after })
  switch (look.kind) {
    case 'absent':
      return [outside(absentSide)]
    case 'file': {
      const captured = await capture(journal.place.home, look, maxFileBytes)
      const after = sideOf(look, captured === null)
      return captured === null ? [outside(after)] : [gap(captured, after), outside(after)]
    }
    case 'link':
    case 'special':
    case 'unreadable':
    case 'oversized': {
      const reason = look.kind === 'link' ? 'symlink' : look.kind
      const known = journal.linesOf(file).findLast((line) => line.type === 'gap' || isChange(line))
      return known?.type === 'gap' && known.reason === reason
        ? []
        : [gap(reason, { exists: true, bytes: false })]
    }
    default:
      return assertNever(look)
  }
}

async function observeUnderHold(file: string, options: ObserveOptions): Promise<JournalLine[]> {
  const { journal, attribution, wait } = options
  const { home, workspace } = journal.place
  const hold = wait === null ? null : await holdForPath({ home, key: workspace.key }, file, wait)
  try {
    // What a dead writer announced and never published would look like somebody's change.
    await settleLines({ ...options, writer: attribution.writer, turn: null, path: file, wait: null })
    const snapshots = await holdSnapshots(home, wait?.signal ?? null)
    try {
      await journal.refresh()
      const look = await lookCarefully(realPathOf(workspace.root, file), options.maxFileBytes)
      const contents = await planOutside(journal, file, look, options.maxFileBytes)
      const lines = contents.map((content) => makeJournalLine(options, attribution, content))
      if (lines.length > 0) await journal.append(lines)
      return lines
    } finally {
      await snapshots.release()
    }
  } finally {
    await hold?.release()
  }
}

/** A file behind a link is not the one that the journal means. Larger files are hashed without keeping their bytes. */
async function lookCarefully(realPath: string, maxFileBytes: number): Promise<FileLook> {
  try {
    missingFolders(path.dirname(realPath))
  } catch (error) {
    if (errnoOf(error) === 'unsafe_path') return { kind: 'link' }
    throw error
  }
  const look = await lookAt(realPath, { keepBytes: true, maxBytes: maxFileBytes })
  return look.kind === 'oversized' ? lookAt(realPath, { keepBytes: false, maxBytes: null }) : look
}

/** Null when the bytes are in the store, else why not. */
async function capture(home: string, look: RegularFile, maxFileBytes: number): Promise<GapReason | null> {
  if (look.bytes === null || look.size > maxFileBytes) return 'oversized'
  try {
    await storeSnapshot(home, look.bytes)
    return null
  } catch {
    // The change is written down all the same: its hash is known, and the gap says that its bytes are not.
    return 'capture_failed'
  }
}
