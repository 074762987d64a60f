import type { FileHandle } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import type { Parser, ReadEntry } from 'tar'
import { makeDamagedError, makeUnsafeError } from './archiveErrors.ts'
import type { ArchiveEntry, EntryLedger } from './entryLedger.ts'

/** Names are in such headers; one that is larger would be left out in silence. */
const maxMetaEntrySize = 65_536

interface TarSource {
  readonly handle: FileHandle
  /** An empty folder. */
  readonly target: string
  readonly ledger: EntryLedger
}

/**
 * Unpacks a `.tar.gz`. Each entry is judged at its header, before it is written, and writing is synchronous, so that
 * nothing is under way any more when this throws. Unpacked here and not by `tar`, which would keep whatever follows
 * the archive's end in memory, however much that is.
 */
export async function unpackTar({ handle, target, ledger }: TarSource): Promise<void> {
  const { UnpackSync } = await import('tar')
  const parser = new UnpackSync({
    cwd: target,
    strict: true,
    maxMetaEntrySize,
    // As root it would give the files to whom the archive names.
    preserveOwner: false,
    noMtime: true,
    zstd: false,
    filter: (_, entry) => {
      if (!('header' in entry)) throw new Error('Assertion failed: not reading an archive')
      ledger.add(judgeEntry(entry, ledger.archive))
      entry.mode = entry.type !== 'Directory' && isExecutable(entry.mode) ? 0o755 : 0o644
      if (entry.type === 'Directory') entry.mode = 0o755
      return true
    },
  })
  const packed = handle.createReadStream({ autoClose: false, start: 0 })
  const unpacked = createGunzip()
  packed.on('error', (error) => unpacked.destroy(error))
  packed.pipe(unpacked)
  try {
    await feed(parser, unpacked, ledger)
  } catch (error) {
    closeOpenFile(parser)
    throw error
  } finally {
    packed.destroy()
  }
}

/** Throws the first fault of an archive, which the parser only tells its listeners. */
async function feed(parser: Parser, chunks: AsyncIterable<Buffer>, ledger: EntryLedger): Promise<void> {
  const { archive, allowedBytes } = ledger
  let fault: unknown = null
  let hasEnded = false
  const keepFirst = (found: unknown) => {
    fault ??= found
  }
  parser.on('error', keepFirst)
  parser.on('eof', () => {
    hasEnded = true
  })
  parser.on('ignoredEntry', ({ path, type }: ReadEntry) =>
    keepFirst(makeUnsafeError(archive, path, `is of the type ${type}`)),
  )
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > allowedBytes)
      throw makeUnsafeError(archive, null, `unpacks to more than ${allowedBytes} bytes`)
    // Only padding may follow the end, and the parser would collect it.
    if (!hasEnded) parser.write(chunk)
    else if (chunk.some((byte) => byte !== 0))
      keepFirst(makeUnsafeError(archive, null, 'goes on after its end'))
    if (fault !== null) throw fault
  }
  parser.end()
  if (fault !== null) throw fault
  if (!hasEnded) throw makeDamagedError(archive, null, { reason: 'has no end' })
}

function judgeEntry({ path, type, size, mode, linkpath }: ReadEntry, archive: string): ArchiveEntry {
  if (type === 'Directory') return { type: 'folder', name: path.replace(/\/$/, '') }
  if (type === 'File' || type === 'OldFile')
    return { type: 'file', name: path, bytes: size, executable: isExecutable(mode) }
  const reason = linkpath === undefined ? `is of the type ${type}` : `is a link, to '${linkpath}'`
  throw makeUnsafeError(archive, path, reason)
}

function isExecutable(mode: number | undefined): boolean {
  return ((mode ?? 0) & 0o111) !== 0
}

/** A file that was cut short is still open, and on Windows an open file cannot be removed. */
function closeOpenFile(parser: Parser): void {
  try {
    parser.end()
  } catch {
    // What went wrong before is what the caller must hear.
  }
}
