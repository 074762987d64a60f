import { type FileHandle, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { IZipEntry } from 'adm-zip'
import { makeDamagedError, makeUnsafeError } from './archiveErrors.ts'
import type { ArchiveEntry, EntryLedger } from './entryLedger.ts'

/** Beyond this a name is refused before it is decoded: the library makes a list of all folders that a name has. */
const maxRawNameBytes = 1024
const [typeMask, regularFile, folder, symbolicLink] = [0o170000, 0o100000, 0o040000, 0o120000]
const [stored, deflated] = [0, 8]

interface ZipSource {
  readonly handle: FileHandle
  /** An empty folder. */
  readonly target: string
  readonly ledger: EntryLedger
}

/**
 * Unpacks a `.zip`. All entries are judged before the first is written. The library unpacks and checks each in memory;
 * it is written here, since the library takes a write that a full disk cut short for a whole one.
 */
export async function unpackZip({ handle, target, ledger }: ZipSource): Promise<void> {
  const { default: AdmZip } = await import('adm-zip')
  const bytes = await handle.readFile()
  const zip = new AdmZip(bytes, { noSort: true, decoder: makeNameDecoder(ledger.archive) })
  ledger.checkCount(zip.getEntryCount())
  const judged = zip.getEntries().map((raw) => ({ raw, entry: judgeEntry(raw, ledger.archive) }))
  for (const { entry } of judged) ledger.add(entry)
  checkOverlap(judged, bytes.length, ledger.archive)
  for (const { raw, entry } of judged) {
    const place = path.join(target, entry.name)
    await mkdir(entry.type === 'folder' ? place : path.dirname(place), { recursive: true })
    // 'wx': whatever the judgement missed, no entry takes the place of another.
    if (entry.type === 'file') await writeFile(place, readEntry(raw, ledger.archive), { flag: 'wx' })
  }
}

function judgeEntry({ entryName, header, isDirectory }: IZipEntry, archive: string): ArchiveEntry {
  const refuse = (reason: string) => makeUnsafeError(archive, entryName, reason)
  const mode = header.attr >>> 16
  const type = mode & typeMask
  if (type === symbolicLink) throw refuse('is a link')
  // Zero: made where files have no such bits.
  if (type !== 0 && type !== (isDirectory ? folder : regularFile))
    throw refuse(`is of the type ${type.toString(8)}`)
  if (header.encrypted) throw refuse('is encrypted')
  if (isDirectory) {
    if (header.size !== 0 || header.compressedSize !== 0) throw refuse('is a folder with content')
    return { type: 'folder', name: entryName.replace(/\/$/, '') }
  }
  if (header.method === stored && header.size !== header.compressedSize)
    throw refuse('has another size than it claims')
  if (header.method !== stored && header.method !== deflated)
    throw refuse(`is packed in a way that is not known, ${header.method}`)
  return { type: 'file', name: entryName, bytes: header.size, executable: (mode & 0o111) !== 0 }
}

/** Entries that share their bytes are how a small archive becomes a huge one. */
function checkOverlap(
  judged: ReadonlyArray<{ readonly raw: IZipEntry }>,
  size: number,
  archive: string,
): void {
  const packed = judged.reduce((sum, { raw }) => sum + raw.header.compressedSize, 0)
  if (packed > size) throw makeUnsafeError(archive, null, 'has entries that overlap')
}

function readEntry(raw: IZipEntry, archive: string): Buffer {
  const { entryName, header } = raw
  try {
    const content = raw.getData()
    if (content.length === header.size) return content
  } catch (error) {
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw makeUnsafeError(
        archive,
        entryName,
        `unpacks to more than the ${header.size} bytes that it claims`,
      )
    throw makeDamagedError(archive, entryName, { reason: 'is damaged', cause: error })
  }
  throw makeDamagedError(archive, entryName, { reason: 'has another size than it claims' })
}

/** The library reads names through this before it does anything with them. */
function makeNameDecoder(archive: string) {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return {
    efs: true,
    encode: (text: string) => Buffer.from(text),
    decode: (bytes: Buffer | Uint8Array) => {
      const shown = () => Buffer.from(bytes.subarray(0, maxRawNameBytes)).toString('latin1')
      if (bytes.length > maxRawNameBytes)
        throw makeUnsafeError(archive, shown(), `has a name of more than ${maxRawNameBytes} bytes`)
      try {
        return decoder.decode(bytes)
      } catch {
        throw makeUnsafeError(archive, shown(), 'has a name that is not UTF-8')
      }
    },
  }
}
