import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  openSync,
  renameSync,
  unlinkSync,
} from 'node:fs'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { syncDescriptor, writeAll } from '../files/descriptor.ts'
import { type FolderAnchor, openAnchor } from './anchor.ts'
import { exchangePaths, type KeepOpen, type Swap } from './exchange.ts'
import { type FoundFile, isLookOf, lookAt, lookInto, openLook, stampAt } from './fileState.ts'
import type { FileSide } from './journalLine.ts'

/** Places in a publication where a test can act, or make it fail. */
export type PublishStep =
  | 'folders_made'
  | 'temp_written'
  | 'before_exchange'
  | 'exchanged'
  | 'before_exchange_back'
  | 'exchanged_back'
  | 'looked_at'
  | 'linked'
  | 'moved_away'
  | 'mode_set'
  | 'temp_removed'

export interface Publication {
  /** Canonical. */
  readonly realPath: string
  /** Names the temporary file, so that whoever judges the line after a crash finds it. */
  readonly lineId: string
  readonly before: FileSide
  /** Null: the file is deleted. `side` describes these bytes. */
  readonly after: { readonly bytes: Buffer; readonly side: FileSide; readonly mode: number } | null
  /** Stores bytes that were found and are neither side; when it throws, they stay in the temporary file. */
  readonly keepForeign: (found: FoundFile) => Promise<void>
  /**
   * Gets bytes that were found instead of the `before` side and went back to their name. Others saw our bytes there
   * meanwhile, and may save what they made of those over them.
   */
  readonly onReturned: (found: FoundFile) => void
  /** Gets each file that loses its name here: a program that has it open may write in it later. */
  readonly keepOpen: KeepOpen
  /** Null: this system cannot exchange two paths in one step. */
  readonly swap: Swap | null
  readonly onStep?: (step: PublishStep) => void | Promise<void>
}

/** The temporary files that a publication may leave beside its target when it is killed. */
export function tempNames(lineId: string): string[] {
  return [`.cass-${lineId}`, `.cass-${lineId}.old`]
}

/**
 * Turns a file from one state into another, after the journal line that says so was synced. The only function that
 * changes a file of the user's, for tools, restore and undo alike. Throws `file_changed` when the file is not in the
 * `before` state at the moment of the change; it then keeps what it has, and nothing of anybody's is lost.
 */
export async function publishFile(publication: Publication): Promise<void> {
  const anchor = openAnchor(path.dirname(publication.realPath))
  const work: Work = {
    ...publication,
    anchor,
    target: anchor.entry(path.basename(publication.realPath)),
    temp: anchor.entry(`.cass-${publication.lineId}`),
    step: async (step) => publication.onStep?.(step),
  }
  try {
    await work.step('folders_made')
    await publishBy(work)
  } catch (error) {
    anchor.removeMade()
    throw error
  } finally {
    anchor.close()
  }
}

/** The file was not what it was when it was read. */
export function fileChanged(realPath: string, cause?: unknown): CassError {
  return new CassError('file_changed', `'${realPath}' changed after it was read`, {
    kind: 'refused',
    hint: 'read the file again, then repeat the change',
    cause,
  })
}

interface Work extends Publication {
  readonly anchor: FolderAnchor
  readonly target: string
  readonly temp: string
  readonly step: (step: PublishStep) => Promise<void>
}

function publishBy(work: Work): Promise<void> {
  const { before, after } = work
  if (after === null) return deleteFile(work)
  if (!before.exists) return createFile(work, after)
  return before.sha256 === after.side.sha256 ? changeMode(work, after.mode) : changeFile(work, after)
}

async function changeFile(work: Work, after: NonNullable<Work['after']>): Promise<void> {
  await writeTemp(work, after)
  await work.step('before_exchange')
  try {
    work.anchor.verify()
    await exchangePaths(work.temp, work.target, work)
  } catch (error) {
    await dropTemp(work)
    throw errnoOf(error) === 'ENOENT' ? fileChanged(work.realPath, error) : error
  }
  await work.step('exchanged')
  const found = await dropExpected(work)
  if (found !== 'dropped') {
    await exchangeBack(work)
    if (found !== 'no_bytes') work.onReturned(found)
    throw fileChanged(work.realPath)
  }
  await work.step('temp_removed')
  await work.anchor.sync()
}

/** What came out was not the expected file: it goes back, and what then comes out must be ours. */
async function exchangeBack(work: Work): Promise<void> {
  await work.step('before_exchange_back')
  try {
    await exchangePaths(work.temp, work.target, work)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    // Ours was deleted meanwhile, so the place is free.
    await putBack(work)
  }
  await work.step('exchanged_back')
  await dropTemp(work)
  await work.anchor.sync()
}

async function createFile(work: Work, after: NonNullable<Work['after']>): Promise<void> {
  await writeTemp(work, after)
  await work.step('before_exchange')
  try {
    work.anchor.verify()
    await linkOrCreate(work, after)
  } catch (error) {
    await dropTemp(work)
    throw errnoOf(error) === 'EEXIST' ? fileChanged(work.realPath, error) : error
  }
  await work.step('linked')
  unlinkSync(work.temp)
  await work.step('temp_removed')
  await work.anchor.sync()
}

async function linkOrCreate({ temp, target }: Work, after: NonNullable<Work['after']>): Promise<void> {
  try {
    linkSync(temp, target)
  } catch (error) {
    if (!isWithoutLinks(error)) throw error
    await writeNew(target, after)
  }
}

async function deleteFile(work: Work): Promise<void> {
  await work.step('before_exchange')
  try {
    work.anchor.verify()
    renameSync(work.target, work.temp)
  } catch (error) {
    throw errnoOf(error) === 'ENOENT' ? fileChanged(work.realPath, error) : error
  }
  await work.step('moved_away')
  if ((await dropExpected(work)) !== 'dropped') {
    await putBack(work)
    await dropTemp(work)
    await work.anchor.sync()
    throw fileChanged(work.realPath)
  }
  await work.step('temp_removed')
  await work.anchor.sync()
}

/** Gives what is in the temporary file its name back, unless that is taken again: then it stays where it is. */
async function putBack({ temp, target }: Work): Promise<void> {
  const look = await lookAt(temp, justHash)
  if (look.kind === 'absent') return
  try {
    linkSync(temp, target)
    unlinkSync(temp)
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return
    // A folder, or no hard links here: a rename is right as long as nothing is there.
    if ((await lookAt(target, justHash)).kind === 'absent') renameSync(temp, target)
  }
}

async function changeMode(work: Work, mode: number): Promise<void> {
  let fd: number
  try {
    fd = openSync(work.target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw ['ENOENT', 'ELOOP'].includes(errnoOf(error) ?? '') ? fileChanged(work.realPath, error) : error
  }
  try {
    if (!isLookOf(await lookInto(fd, false, null), work.before)) throw fileChanged(work.realPath)
    fchmodSync(fd, mode)
    await work.step('mode_set')
    await syncDescriptor(fd)
    const there = stampAt(work.target)
    if (there?.ino !== String(fstatSync(fd, { bigint: true }).ino)) throw fileChanged(work.realPath)
  } finally {
    closeSync(fd)
  }
}

async function writeTemp(work: Work, after: NonNullable<Work['after']>): Promise<void> {
  try {
    await writeNew(work.temp, after)
    await work.step('temp_written')
  } catch (error) {
    // A full disk leaves part of our own bytes, which nobody needs. A name that was taken is not ours to remove.
    if (errnoOf(error) !== 'EEXIST') unlinkIfThere(work.temp)
    throw error
  }
}

async function writeNew(file: string, { bytes, mode }: { bytes: Buffer; mode: number }): Promise<void> {
  const fd = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    await writeAll(fd, bytes)
    fchmodSync(fd, mode)
    await syncDescriptor(fd)
  } finally {
    closeSync(fd)
  }
}

/** Removes the temporary file when it is the file that was to be replaced; else gives the bytes that are there instead. */
async function dropExpected({
  temp,
  before,
  keepOpen,
  step,
}: Work): Promise<'dropped' | 'no_bytes' | FoundFile> {
  const { fd, look } = await openLook(temp, justHash)
  if (fd === null) return 'no_bytes'
  if (!isLookOf(look, before)) {
    try {
      const again = look.sha256 === before.sha256 ? null : await lookInto(fd, true, null)
      return again?.kind === 'file' && again.bytes !== null ? { ...again, bytes: again.bytes } : 'no_bytes'
    } finally {
      closeSync(fd)
    }
  }
  keepOpen({ fd, sha256: look.sha256 })
  await step('looked_at')
  unlinkSync(temp)
  return 'dropped'
}

/** Removes the temporary file when its bytes are known to be one of the two sides, or were stored just now. */
async function dropTemp({ temp, before, after, keepForeign, keepOpen, step }: Work): Promise<void> {
  const { fd, look } = await openLook(temp, { keepBytes: true, maxBytes: null })
  if (fd === null) return
  let isKept = false
  try {
    if (look.bytes === null) return
    if (look.sha256 !== before.sha256 && look.sha256 !== after?.side.sha256) {
      await keepForeign({ ...look, bytes: look.bytes })
    }
    isKept = true
  } finally {
    if (!isKept) closeSync(fd)
  }
  keepOpen({ fd, sha256: look.sha256 })
  await step('looked_at')
  unlinkSync(temp)
}

function unlinkIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

/** File systems without hard links answer in many ways; a real lack of permission shows again at the next call. */
function isWithoutLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errnoOf(error) ?? '')
}

const justHash = { keepBytes: false, maxBytes: null }
