import { closeSync, constants, lstatSync, openSync, renameSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { syncDescriptor, writeAll } from '../files/descriptor.ts'
import { syncFolder } from '../files/durable.ts'
import { acquireLock, type HeldLock } from '../files/lockFile.ts'
import { isOtherKind, readRegular } from '../files/openRegular.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import { sha256Of } from './fileState.ts'

/** Where the bytes named `sha256` are kept in a home. */
export function snapshotPath(home: string, sha256: string): string {
  return path.join(objectsFolder(home), sha256.slice(0, 2), sha256.slice(2))
}

/**
 * Held from the first store of a change up to its journal line, so that nothing is dropped in between. Bytes are only
 * dropped by who holds this lock alone.
 */
export async function holdSnapshots(home: string, signal: AbortSignal | null): Promise<HeldLock> {
  const folder = path.join(home, 'file-snapshots')
  await ensurePrivateFolder(folder)
  return acquireLock({
    path: path.join(folder, 'lock'),
    mode: 'shared',
    timeoutMs: null,
    ...(signal === null ? {} : { signal }),
    subject: 'the snapshot store',
  })
}

/**
 * Puts bytes into the store and gives their name; on return they survive a power cut. Bytes that are there already
 * are read, and written again if they are damaged.
 */
export async function storeSnapshot(home: string, bytes: Uint8Array): Promise<string> {
  const sha256 = sha256Of(bytes)
  const file = snapshotPath(home, sha256)
  const folder = path.dirname(file)
  await ensurePrivateFolder(folder)
  if (lengthOf(file) !== bytes.length || (await readSnapshot(home, sha256)) === null)
    await writeObject(file, bytes)
  // Also when the object was there: who wrote it may have died before its folder was synced.
  await syncFolder(folder)
  return sha256
}

/** The bytes of that name; null when they are missing, or are not what their name says. */
export async function readSnapshot(home: string, sha256: string): Promise<Buffer | null> {
  if (!/^[0-9a-f]{64}$/.test(sha256)) return null
  let bytes: Buffer
  try {
    bytes = readRegular(snapshotPath(home, sha256))
  } catch (error) {
    if (isOtherKind(error) || ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return null
    throw error
  }
  return sha256Of(bytes) === sha256 ? bytes : null
}

/** The one error for bytes that cannot be kept; the setting is named, since it is the way out. */
export function snapshotRefused(
  file: string,
  why: string,
  { hint, cause }: { hint: string; cause?: unknown },
): CassError {
  return new CassError('snapshot_refused', `will not write '${file}': ${why}`, {
    kind: 'refused',
    hint,
    cause,
  })
}

function objectsFolder(home: string): string {
  return path.join(home, 'file-snapshots', 'objects')
}

let storedHere = 0

async function writeObject(file: string, bytes: Uint8Array): Promise<void> {
  storedHere += 1
  const temp = `${file}.${process.pid}-${storedHere}`
  try {
    const fd = openSync(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600)
    try {
      await writeAll(fd, bytes)
      await syncDescriptor(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temp, file)
  } catch (error) {
    await unlink(temp).catch(() => {
      // The first error is the one to tell; a leftover is found by its name.
    })
    throw error
  }
}

function lengthOf(file: string): number | null {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  return stat?.isFile() ? stat.size : null
}
