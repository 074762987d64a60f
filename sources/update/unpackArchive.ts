import { chmod, type FileHandle, lstat, mkdir, open, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { makeDamagedError } from './archiveErrors.ts'
import { type ArchiveEntry, type ArchiveLimits, EntryLedger } from './entryLedger.ts'
import { unpackTar } from './unpackTar.ts'
import { unpackZip } from './unpackZip.ts'

interface UnpackOptions {
  /** A `.tar.gz` or `.zip`, whose checksum was verified. */
  readonly archive: string
  /**
   * A folder that does not exist; made here, for its owner only. Name it beside what the release will replace, so that
   * a rename can publish what is in it.
   */
  readonly target: string
  readonly limits: ArchiveLimits
}

/**
 * Unpacks a release archive into a new folder: regular files (0644, or 0755 when any may run it) and folders (0755), and
 * nothing else. An archive with anything else in it is refused as a whole; whatever fails, the folder is gone again.
 */
export async function unpackArchive({
  archive,
  target,
  limits,
}: UnpackOptions): Promise<ReadonlyArray<ArchiveEntry>> {
  const unpack = chooseFormat(archive)
  const name = path.basename(archive)
  const { handle, size } = await openArchive(archive)
  try {
    const ledger = new EntryLedger({ archive: name, size, limits })
    await makeTarget(target)
    try {
      await unpack({ handle, target, ledger })
      if (!ledger.entries.some(({ type }) => type === 'file'))
        throw makeDamagedError(name, null, { reason: 'holds no file' })
      for (const entry of ledger.entries) await settle(entry, target)
      return ledger.entries
    } catch (error) {
      await removeTarget(target, error)
      throw explain(error, { name, target })
    }
  } finally {
    await handle.close()
  }
}

function chooseFormat(archive: string) {
  if (archive.endsWith('.tar.gz')) return unpackTar
  if (archive.endsWith('.zip')) return unpackZip
  throw new Error(`Assertion failed: '${archive}' is no archive of a release`)
}

async function openArchive(archive: string): Promise<{ handle: FileHandle; size: number }> {
  try {
    // Asked before it is opened: opening a pipe would wait for its writer.
    const { size } = await stat(archive).then((found) => {
      if (found.isFile()) return found
      throw makeDamagedError(path.basename(archive), null, { reason: 'is no file' })
    })
    return { handle: await open(archive, 'r'), size }
  } catch (error) {
    throw explain(error, { name: path.basename(archive), target: archive })
  }
}

async function makeTarget(target: string): Promise<void> {
  try {
    // Not recursive: one that exists, a link too, may be another's.
    await mkdir(target, { mode: 0o700 })
  } catch (error) {
    throw new CassError('unpack_failed', `cannot make the folder '${target}' (${errnoOf(error)})`, {
      hint: 'name a new folder in one that you may write to',
      cause: error,
    })
  }
}

/** Modes do not depend on the umask, and what a full disk cut short is found. */
async function settle(entry: ArchiveEntry, target: string): Promise<void> {
  const place = path.join(target, entry.name)
  const found = await lstat(place)
  const isWhole = entry.type === 'folder' ? found.isDirectory() : found.isFile() && found.size === entry.bytes
  if (!isWhole) {
    throw new CassError('unpack_failed', `cannot unpack '${entry.name}' whole into '${target}'`, {
      hint: 'make room and try again',
    })
  }
  const isOpen = entry.type === 'folder' || entry.executable
  if (process.platform !== 'win32') await chmod(place, isOpen ? 0o755 : 0o644)
}

async function removeTarget(target: string, cause: unknown): Promise<void> {
  try {
    await rm(target, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    throw new CassError('unpack_failed', `cannot remove the folder '${target}' (${errnoOf(error)})`, {
      hint: 'remove it yourself; nothing in it is in use',
      cause,
    })
  }
}

/** What the libraries throw about an archive says nothing to a person; what the system refuses is no fault of it. */
function explain(
  error: unknown,
  { name, target }: { readonly name: string; readonly target: string },
): unknown {
  if (error instanceof CassError) return error
  const code = errnoOf(error)
  if (code !== null && /^E[A-Z0-9]+$/.test(code)) {
    return new CassError('unpack_failed', `cannot unpack '${name}': '${target}' (${code})`, {
      hint: 'make room there, or give yourself the right to it',
      cause: error,
    })
  }
  return makeDamagedError(name, null, { reason: 'is damaged, or no such archive', cause: error })
}
