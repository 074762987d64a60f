import { closeSync } from 'node:fs'
import type { HeldLock } from '../files/lockFile.ts'
import { holdForPath } from '../workspace/hold.ts'
import type { NamelessFile } from './exchange.ts'
import { type FileStamp, type FoundFile, isSameStamp, lookAt, lookInto, stampInto } from './fileState.ts'
import type { Journal } from './journal.ts'
import { type FileSide, type JournalLine, type LineSource, realPathOf } from './journalLine.ts'
import { type DisplacedKeeper, keepForeignBytes, sideOfLook } from './unsettled.ts'

/** What became of bytes that another program wrote into a file after its name went to the edited one. */
export type ForeignBytes =
  | { readonly type: 'kept'; readonly path: string; readonly sha256: string }
  | { readonly type: 'lost'; readonly path: string; readonly reason: string }

export interface DisplacedOptions extends LineSource {
  readonly journal: Journal
  /** Whom the lines name as their writer. */
  readonly writer: string
  /** Must not throw. */
  readonly onForeign: (bytes: ForeignBytes) => void
  /** How many files stay open between two edits; omitted: 64. */
  readonly limit?: number
}

interface DisplacedFile {
  readonly fd: number
  /** The change that took its name. */
  readonly line: JournalLine
  /** Hashes of bytes that were in it and are in the store. */
  readonly known: Set<string>
  /** Of the last look that found nothing new; null: none yet. */
  stamp: FileStamp | null
}

const defaultLimit = 64
/** Smaller files are read at the last look in any case: what a mapped page takes changes no time at once. */
const smallBytes = 1 << 20
/** How long a look waits for others who write in the workspace, in milliseconds. */
const holdMs = 5000

/**
 * The files that lost their names to a turn's edits. A program that had one open can write in it as before, and nobody
 * else would ever see those bytes; so each stays open, is looked at again, and what came is put into the store.
 */
export class DisplacedFiles implements DisplacedKeeper {
  readonly #options: DisplacedOptions
  readonly #files = new Set<DisplacedFile>()
  #looking: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(options: DisplacedOptions) {
    this.#options = options
  }

  /** How many are open. */
  get count(): number {
    return this.#files.size
  }

  /** Takes a file over. The caller, or an edit around it, looks soon after. */
  keep(line: JournalLine, { fd, sha256 }: NamelessFile): void {
    const hashes = [line.before.sha256, line.after.sha256, sha256]
    const known = new Set(hashes.filter((hash) => typeof hash === 'string'))
    this.#files.add({ fd, line, known, stamp: null })
  }

  tellKept(file: string, sha256: string): void {
    this.#options.onForeign({ type: 'kept', path: file, sha256 })
  }

  /** Stores what came since the last look. Never throws. The caller holds no path and not the workspace. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#lookAtAll())
    return this.#looking
  }

  /** The last look at all of them, at the end of the turn. What a tool that was not stopped adds later is closed after one look. */
  settle(): Promise<void> {
    this.#isOver = true
    return this.look()
  }

  async #lookAtAll(): Promise<void> {
    const files = [...this.#files]
    const excess = this.#isOver ? files.length : files.length - (this.#options.limit ?? defaultLimit)
    for (const [at, file] of files.entries()) await this.#lookAtOne(file, at < excess)
  }

  async #lookAtOne(file: DisplacedFile, isLast: boolean): Promise<void> {
    try {
      await this.#storeNew(file, isLast)
    } catch (error) {
      // The file is still open, so the next look tries again.
      const reason = error instanceof Error ? error.message : String(error)
      if (isLast) this.#options.onForeign({ type: 'lost', path: file.line.path, reason })
    } finally {
      if (isLast) {
        this.#files.delete(file)
        closeSync(file.fd)
      }
    }
  }

  async #storeNew(file: DisplacedFile, isLast: boolean): Promise<void> {
    const stamp = stampInto(file.fd)
    // Losing its name changed the time of the file, so the first look reads it always.
    const isUnchanged = file.stamp !== null && isSameStamp(file.stamp, stamp)
    if (isUnchanged && !(isLast && stamp.size < smallBytes)) return
    const look = await lookInto(file.fd, true, null)
    if (look.kind !== 'file' || look.bytes === null) return
    // An empty one holds no bytes: a program that saves in place has cut it, and its bytes come with a later look.
    if (look.size > 0 && !file.known.has(look.sha256)) {
      await this.#store(file.line, { ...look, bytes: look.bytes })
      file.known.add(look.sha256)
    }
    file.stamp = look.stamp
  }

  /** The lines lead from what the path is to the bytes and back, so what the journal says of the file stays true. */
  async #store(line: JournalLine, found: FoundFile): Promise<void> {
    const { journal, writer } = this.#options
    const hold = await this.#holdOrNull(line.path)
    try {
      await journal.refresh()
      const current = await this.#stateOf(line.path)
      if (current?.bytes && current.sha256 === found.sha256) return
      const from = { ...line, before: current ?? line.before }
      await keepForeignBytes({
        ...{ journal, writer, found, current, line: from },
        ...{ source: this.#options, displaced: this },
      })
    } finally {
      await hold?.release()
    }
  }

  async #stateOf(file: string): Promise<FileSide | null> {
    const { journal } = this.#options
    const last = journal.lastChange(file)
    if (last !== null) return last.after
    const real = realPathOf(journal.place.workspace.root, file)
    return sideOfLook(await lookAt(real, { keepBytes: false, maxBytes: null }))
  }

  /** Null when others write for long: bytes that would be gone are worth more than lines in order. */
  async #holdOrNull(file: string): Promise<HeldLock | null> {
    const { home, workspace } = this.#options.journal.place
    try {
      return await holdForPath({ home, key: workspace.key }, file, {
        ...{ timeoutMs: holdMs, signal: null, onWait: null },
      })
    } catch {
      return null
    }
  }
}
