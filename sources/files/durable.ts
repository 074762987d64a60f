import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, statSync } from 'node:fs'
import { realpath, rename, unlink } from 'node:fs/promises'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { syncDescriptor, writeAll } from './descriptor.ts'
import { makeKindError, openRegular } from './openRegular.ts'

/** Makes the entries of a folder (new files, renames) survive a power cut. Windows has no such call: nothing is done. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  // Opening and closing a folder ends sooner than another thread could be asked to.
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await syncDescriptor(fd)
  } catch (error) {
    // Some network and FUSE file systems refuse to sync a folder; they order entries themselves.
    if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(errnoOf(error) ?? '')) throw error
  } finally {
    closeSync(fd)
  }
}

/** Replaces a file as a whole (0600): readers see the old bytes or the new ones. Synced, and its folder too. */
export async function writeFileDurably(file: string, data: string | Buffer): Promise<void> {
  await replace(file, data, { synced: true })
}

/** Replaces a file that can be made again from others: readers see the old or the new bytes, nothing is synced. */
export async function replaceDerivedFile(file: string, data: string | Buffer): Promise<void> {
  await replace(file, data, { synced: false })
}

/**
 * Our own, since the library for it takes a write that a full disk cut short for a whole one, and would put half a file in
 * the old one's place.
 */
async function replace(
  file: string,
  data: string | Buffer,
  { synced }: { readonly synced: boolean },
): Promise<void> {
  const target = await realTarget(file)
  // A rename would put a file in the place of a device that a link leads to; for root even in /dev.
  const there = statSync(target, { throwIfNoEntry: false })
  if (there !== undefined && !there.isFile()) throw makeKindError(there, target)
  const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const fd = openRegular(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL)
    try {
      await writeAll(fd, Buffer.from(data))
      if (synced) await syncDescriptor(fd)
    } finally {
      closeSync(fd)
    }
    await rename(temporary, target)
  } catch (error) {
    await unlink(temporary).catch(() => {
      // It may never have been made; what failed before is what the caller must hear.
    })
    throw error
  }
  if (synced) await syncFolder(path.dirname(target))
}

/** A file behind a link is replaced where it really is, so that the link stays. */
async function realTarget(file: string): Promise<string> {
  try {
    return await realpath(file)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return path.join(await realpath(path.dirname(file)), path.basename(file))
    throw error
  }
}
