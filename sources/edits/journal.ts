import { closeSync, constants, fstatSync, readSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { CassError } from '../errors.ts'
import { readAt, syncDescriptor } from '../files/descriptor.ts'
import { syncFolder } from '../files/durable.ts'
import { acquireLock, type HeldLock } from '../files/lockFile.ts'
import { openRegular, reasonOf } from '../files/openRegular.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import { workspaceLocks } from '../workspace/hold.ts'
import { ensureWorkspaceFolder, type Workspace, workspaceFolder } from '../workspace/root.ts'
import {
  isChange,
  type JournalHole,
  type JournalLine,
  type PlacedLine,
  parseJournal,
  stringifyJournalLine,
} from './journalLine.ts'

/** Whose journal it is, and in which home it lies. */
export interface JournalPlace {
  readonly home: string
  readonly workspace: Workspace
}

/** An append is a few milliseconds of work, so a longer wait means that its holder is stuck. */
const appendWaitMs = 30_000

export function journalFile({ home, workspace }: JournalPlace): string {
  return path.join(workspaceFolder(home, workspace.key), 'journal.jsonl')
}

/** The journal's size in bytes, 0 when it has none: what a message marks as its `fs`. */
export function journalSize(place: JournalPlace): number {
  return statSync(journalFile(place), { throwIfNoEntry: false })?.size ?? 0
}

/**
 * One workspace's journal as this process knows it: `refresh` takes in what others appended. One object may serve
 * many conversations and tool calls.
 */
export class Journal {
  readonly place: JournalPlace
  readonly #lines: PlacedLine[] = []
  readonly #holes: JournalHole[] = []
  readonly #byPath = new Map<string, JournalLine[]>()
  readonly #byId = new Map<string, JournalLine>()
  readonly #voided = new Set<string>()
  #consumed = 0
  #reading: Promise<void> = Promise.resolve()

  constructor(place: JournalPlace) {
    this.place = place
  }

  /** All lines as of the last refresh, in order. */
  get lines(): ReadonlyArray<PlacedLine> {
    return this.#lines
  }

  get holes(): ReadonlyArray<JournalHole> {
    return this.#holes
  }

  /** The lines of one path, in order, `void` and `gap` too. */
  linesOf(file: string): ReadonlyArray<JournalLine> {
    return this.#byPath.get(file) ?? []
  }

  has(id: string): boolean {
    return this.#byId.has(id)
  }

  isVoided(id: string): boolean {
    return this.#voided.has(id)
  }

  /** The last change of a path that came to pass; null when nothing is known of it. */
  lastChange(file: string): JournalLine | null {
    return this.linesOf(file).findLast((line) => isChange(line) && !this.isVoided(line.id)) ?? null
  }

  /** Paths with a change by one of these conversations. */
  trackedPaths(family: ReadonlySet<string>): string[] {
    const paths: string[] = []
    for (const [file, lines] of this.#byPath) {
      const own = (line: JournalLine) => line.conversation !== undefined && family.has(line.conversation)
      if (lines.some((line) => own(line) && isChange(line) && !this.isVoided(line.id))) paths.push(file)
    }
    return paths.sort()
  }

  /** Reads what was appended since the last time. */
  refresh(): Promise<void> {
    const next = this.#reading.then(() => this.#readOn())
    // A failed read must not fail those that come after it; each caller sees its own.
    this.#reading = next.catch(() => undefined)
    return next
  }

  /**
   * Appends lines in one write and syncs them; gives the journal's size after. Throws `journal_unwritable`: then none of
   * them may be relied on.
   */
  async append(lines: ReadonlyArray<JournalLine>): Promise<number> {
    const file = journalFile(this.place)
    try {
      await ensureWorkspaceFolder(this.place.home, this.place.workspace)
      const lock = await this.#lock()
      try {
        return await appendText(file, lines.map((line) => `${stringifyJournalLine(line)}\n`).join(''))
      } finally {
        await lock.release()
      }
    } catch (error) {
      if (error instanceof CassError) throw error
      throw new CassError('journal_unwritable', `cannot write the journal '${file}': ${reasonOf(error)}`, {
        hint: 'free some disk space, or check the permissions of the folder',
        cause: error,
      })
    }
  }

  async #lock(): Promise<HeldLock> {
    const { home, workspace } = this.place
    const folder = workspaceLocks({ home, key: workspace.key })
    await ensurePrivateFolder(folder)
    return acquireLock({
      path: path.join(folder, 'journal'),
      mode: 'exclusive',
      timeoutMs: appendWaitMs,
      subject: `the journal of '${workspace.root}'`,
    })
  }

  async #readOn(): Promise<void> {
    const file = journalFile(this.place)
    const bytes = await readFrom(file, this.#consumed).catch((error: unknown) => {
      throw new CassError('journal_unreadable', `cannot read the journal '${file}': ${reasonOf(error)}`, {
        hint: 'check the permissions of the file',
        cause: error,
      })
    })
    const parsed = parseJournal(bytes, this.#consumed)
    this.#consumed = parsed.consumed
    this.#holes.push(...parsed.holes)
    for (const placed of parsed.lines) {
      const { line } = placed
      this.#lines.push(placed)
      this.#byId.set(line.id, line)
      if (line.voids !== undefined && line.type === 'void') this.#voided.add(line.voids)
      const known = this.#byPath.get(line.path)
      if (known === undefined) this.#byPath.set(line.path, [line])
      else known.push(line)
    }
  }
}

async function appendText(file: string, text: string): Promise<number> {
  const fd = openRegular(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT)
  try {
    const { size } = fstatSync(fd)
    const bytes = Buffer.from(size > 0 && !endsWithBreak(fd, size) ? `\n${text}` : text)
    const written = writeSync(fd, bytes)
    if (written !== bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`)
    await syncDescriptor(fd)
    if (size === 0) await syncFolder(path.dirname(file))
    return size + bytes.length
  } finally {
    closeSync(fd)
  }
}

function endsWithBreak(fd: number, size: number): boolean {
  const last = Buffer.alloc(1)
  readSync(fd, last, 0, 1, size - 1)
  return last[0] === 0x0a
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  const length = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) - offset
  if (length <= 0) return Buffer.alloc(0)
  const fd = openRegular(file, constants.O_RDONLY)
  try {
    const bytes = Buffer.allocUnsafe(length)
    return bytes.subarray(0, await readAt(fd, bytes, 0, offset))
  } finally {
    closeSync(fd)
  }
}
