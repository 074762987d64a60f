import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
} from 'node:fs'
import { errnoOf } from '../errors.ts'
import { syncDescriptor, writeAll } from '../files/descriptor.ts'
import { loadNativeFiles } from '../files/native.ts'
import { lookInto } from './fileState.ts'

/** Exchanges two paths of one file system in one step. */
export type Swap = (from: string, to: string) => Promise<void>

/** A file without a name, or about to lose it, in which a program that has it open can still write. */
export interface NamelessFile {
  /** Whoever gets the file closes this. */
  readonly fd: number
  /** The bytes that are kept elsewhere by now; null: whether they are is not known. */
  readonly sha256: string | null
}

export type KeepOpen = (file: NamelessFile) => void

export interface ExchangeOptions {
  readonly swap: Swap | null
  /** Gets a file that the exchange itself leaves without a name. */
  readonly keepOpen: KeepOpen
}

/** Null where there is none: on Windows the native call is three renames, which is no single step. */
export async function loadSwap(): Promise<Swap | null> {
  if (process.platform === 'win32') return null
  const native = await loadNativeFiles()
  return native === null ? null : (from, to) => native.swap(from, to)
}

/** After it, `target` is what `temp` was, and `temp` holds what `target` was. Throws ENOENT when `target` is missing. */
export async function exchangePaths(
  temp: string,
  target: string,
  { swap, keepOpen }: ExchangeOptions,
): Promise<void> {
  if (swap !== null) {
    try {
      return await swap(temp, target)
    } catch (error) {
      if (!['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(errnoOf(error) ?? '')) throw error
    }
  }
  await exchangeBySteps(temp, target, keepOpen)
}

/**
 * The old file gets a second name before it is replaced, so its bytes have one at every moment. What another program
 * renames into place between the two steps is not seen: that is what the single step is for.
 */
async function exchangeBySteps(temp: string, target: string, keepOpen: KeepOpen): Promise<void> {
  const old = `${temp}.old`
  if (!lstatSync(target).isFile() || !lstatSync(temp).isFile()) {
    // A folder or a link has taken the place, or goes back to it: nothing is renamed over those.
    renameSync(target, old)
    renameSync(temp, target)
    renameSync(old, temp)
    return
  }
  try {
    linkSync(target, old)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw error
    return replaceKeepingBytes(temp, target, keepOpen)
  }
  renameSync(temp, target)
  renameSync(old, temp)
}

/** Without hard links: an open descriptor keeps the old bytes, which are then written where they would have been. */
async function replaceKeepingBytes(temp: string, target: string, keepOpen: KeepOpen): Promise<void> {
  const fd = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    renameSync(temp, target)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  let sha256: string | null = null
  try {
    const look = await lookInto(fd, true, null)
    if (look.kind !== 'file' || look.bytes === null) return
    await writeCopy(temp, look.bytes, fstatSync(fd).mode & 0o7777)
    sha256 = look.sha256
  } finally {
    keepOpen({ fd, sha256 })
  }
}

async function writeCopy(file: string, bytes: Buffer, mode: number): Promise<void> {
  const fd = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    await writeAll(fd, bytes)
    fchmodSync(fd, mode)
    await syncDescriptor(fd)
  } finally {
    closeSync(fd)
  }
}
