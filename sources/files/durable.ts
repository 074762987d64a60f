import { closeSync, openSync } from 'node:fs'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { syncDescriptor } from './descriptor.ts'

/** Makes the entries of a folder (new files, renames) survive a power cut. Windows has no such call: nothing is done. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const fd = openSync(folder, 'r')
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
  const { default: writeFileAtomic } = await import('write-file-atomic')
  await writeFileAtomic(file, data, { mode: 0o600 })
  await syncFolder(path.dirname(file))
}

/** Replaces a file that can be made again from others: readers see the old or the new bytes, nothing is synced. */
export async function replaceDerivedFile(file: string, data: string | Buffer): Promise<void> {
  const { default: writeFileAtomic } = await import('write-file-atomic')
  await writeFileAtomic(file, data, { mode: 0o600, fsync: false })
}
