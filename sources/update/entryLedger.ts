import { makeUnsafeError } from './archiveErrors.ts'
import { findNameFault } from './entryName.ts'

/** What an archive may become when it is unpacked. */
export interface ArchiveLimits {
  readonly maxBytes: number
  readonly maxEntries: number
  /** Unpacked bytes for each byte of the archive; small archives are excused, their padding packs well. */
  readonly maxRatio: number
}

/** Roomy for a release: a Node binary is about 120 MB, and packs to a third; the sources are some hundred files. */
export const releaseLimits: ArchiveLimits = {
  maxBytes: 536_870_912,
  maxEntries: 20_000,
  maxRatio: 100,
}

/** What is unpacked whatever the ratio. */
const excusedBytes = 1_048_576

/** A file or folder of an archive. `name` has slashes on every platform, and none at its end. */
export type ArchiveEntry =
  | { readonly type: 'file'; readonly name: string; readonly bytes: number; readonly executable: boolean }
  | { readonly type: 'folder'; readonly name: string }

/**
 * The entries of one archive, each judged before any byte of it is written: names, double names, and the totals that
 * the archive claims. Folders that only a path names are entries too.
 */
export class EntryLedger {
  readonly archive: string
  /** Unpacking to more than this is refused. */
  readonly allowedBytes: number
  readonly #limits: ArchiveLimits
  readonly #entries = new Map<string, { entry: ArchiveEntry; isImplied: boolean }>()
  #claims = 0
  #bytes = 0

  /** `archive` is the file's name, for messages; `size` its bytes. */
  constructor({ archive, size, limits }: { archive: string; size: number; limits: ArchiveLimits }) {
    this.archive = archive
    this.allowedBytes = Math.min(limits.maxBytes, Math.max(excusedBytes, size * limits.maxRatio))
    this.#limits = limits
    if (size > limits.maxBytes) throw makeUnsafeError(archive, null, 'is too large')
  }

  /** Files and folders in the order of the archive, a folder before what is in it. */
  get entries(): ReadonlyArray<ArchiveEntry> {
    return [...this.#entries.values()].map(({ entry }) => entry)
  }

  /** Throws when the archive claims more entries than are allowed; for a format that says so at its start. */
  checkCount(count: number): void {
    if (count <= this.#limits.maxEntries) return
    throw makeUnsafeError(this.archive, null, `has more than ${this.#limits.maxEntries} entries`)
  }

  /** Takes an entry, or throws `archive_unsafe`. */
  add(entry: ArchiveEntry): void {
    const fault = findNameFault(entry.name)
    if (fault !== null) throw makeUnsafeError(this.archive, entry.name, fault)
    this.checkCount(++this.#claims)
    if (entry.type === 'file') this.#addBytes(entry.name, entry.bytes)
    const parts = entry.name.split('/')
    for (let depth = 1; depth < parts.length; depth++)
      this.#place({ type: 'folder', name: parts.slice(0, depth).join('/') }, true)
    this.#place(entry, false)
  }

  #addBytes(name: string, bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= this.allowedBytes) return
    throw makeUnsafeError(this.archive, name, `brings it to more than ${this.allowedBytes} bytes`)
  }

  #place(entry: ArchiveEntry, isImplied: boolean): void {
    const key = foldCase(entry.name)
    const known = this.#entries.get(key)
    if (known === undefined) {
      this.#entries.set(key, { entry, isImplied })
      return
    }
    const isSameFolder =
      known.entry.type === 'folder' && entry.type === 'folder' && known.entry.name === entry.name
    if (!isSameFolder || (!isImplied && !known.isImplied))
      throw makeUnsafeError(
        this.archive,
        entry.name,
        `takes the place of '${known.entry.name}', which is in it too`,
      )
    if (!isImplied) known.isImplied = false
  }
}

/** Names that some file system takes for one and the same have one folded form. */
function foldCase(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
}
