import { closeSync, constants, fstatSync, fsyncSync, readSync, statSync, writeSync } from 'node:fs'
import { CassError, errnoOf } from '../errors.ts'
import { isOtherKind, openRegular, reasonOf } from '../files/openRegular.ts'
import { type LogHeaderEntry, tryParseEntry } from './entry.ts'
import { type Graph, makeGraph, type Node } from './graph.ts'
import { replay } from './replay.ts'
import { LogScanner } from './scan.ts'

/** The two calls whose failure a log must survive; tests give failing ones. */
export interface LogWrites {
  write(fd: number, bytes: Buffer): number
  sync(fd: number): void
}

export const realWrites: LogWrites = { write: (fd, bytes) => writeSync(fd, bytes), sync: fsyncSync }

const scanWindow = 4 * 1024 * 1024
const bodyWindow = 1024 * 1024

/**
 * One log file, replayed up to where it was last read. It never holds a descriptor between calls, so that a log that
 * was replaced is noticed.
 */
export class LogFile {
  readonly path: string
  #graph: Graph = makeGraph()
  #position = 0
  #inode: bigint | null = null

  constructor(path: string) {
    this.path = path
  }

  get graph(): Graph {
    return this.#graph
  }

  /** Bytes that are replayed. */
  get position(): number {
    return this.#position
  }

  /**
   * Replays what was appended since the last call; all of it when the file was replaced or is shorter. Throws
   * `log_unknown_schema` or `log_unknown_type` for another format, `conversation_unreadable` when it cannot be read.
   */
  refresh(): void {
    const fd = openToRead(this.path)
    if (fd === null) return
    try {
      const { ino, size } = fstatSync(fd, { bigint: true })
      if (ino !== this.#inode || size < BigInt(this.#position)) {
        this.#graph = makeGraph()
        this.#position = 0
        this.#inode = ino
      }
      const scanner = new LogScanner(this.#position)
      const window = Buffer.allocUnsafe(Math.min(scanWindow, Math.max(1, Number(size) - this.#position)))
      for (let at = this.#position; ; ) {
        const read = readSync(fd, window, 0, window.length, at)
        if (read === 0) break
        scanner.push(window.subarray(0, read), (line) => replay(this.#graph, line))
        at += read
      }
      this.#position = scanner.finish((line) => replay(this.#graph, line)).end
    } finally {
      closeSync(fd)
    }
  }

  /**
   * Reads the lines of nodes, in the given order. The buffer is valid during the call only. A visit that gives false, since
   * the line is damaged, is called again with the second line of a message that was written twice.
   */
  readLines(nodes: ReadonlyArray<Node>, visit: (node: Node, line: Buffer) => boolean): void {
    const fd = nodes.length === 0 ? null : openToRead(this.path)
    if (fd === null) return
    try {
      let window: Buffer = Buffer.alloc(0)
      let start = 0
      let filled = 0
      const end = nodes.reduce((last, { offset, length }) => Math.max(last, offset + length), 0)
      const at = (offset: number, length: number): Buffer => {
        if (offset < start || offset + length > start + filled) {
          // One message costs its own length; many, in the order of the log, a few large reads.
          const wanted = Math.max(length, Math.min(bodyWindow, end - offset))
          if (window.length < wanted) window = Buffer.allocUnsafe(wanted)
          start = offset
          filled = readSync(fd, window, 0, window.length, offset)
        }
        return window.subarray(offset - start, offset - start + length)
      }
      for (const node of nodes) {
        const understood = visit(node, at(node.offset, node.length))
        if (!understood && node.again !== null) visit(node, at(node.again.offset, node.again.length))
      }
    } finally {
      closeSync(fd)
    }
  }

  /**
   * Writes whole lines in one call behind the end of the file and syncs it. A torn line before them is left standing on a
   * line of its own. Throws `conversation_gone`, the system's error, `short_write`, or `sync_failed`.
   */
  append(text: string, writes: LogWrites): void {
    const fd = this.#openToAppend()
    try {
      const bytes = Buffer.from(endsOpen(fd) ? `\n${text}` : text)
      const written = writes.write(fd, bytes)
      if (written !== bytes.length) throw shortWrite(written, bytes.length)
      try {
        writes.sync(fd)
      } catch (cause) {
        throw new CassError('sync_failed', `'${this.path}' could not be synced`, { cause })
      }
    } finally {
      closeSync(fd)
    }
  }

  /** A log that vanished while it was open must not come back without its beginning. */
  #openToAppend(): number {
    try {
      return openRegular(this.path, constants.O_RDWR | constants.O_APPEND)
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
      throw new CassError('conversation_gone', `the log '${this.path}' was removed while it was in use`, {
        hint: 'put the file back, or begin a new chat',
      })
    }
  }
}

/** Null when there is no such file. Throws `conversation_unreadable`, also for a folder, a pipe or a device. */
function openToRead(path: string): number | null {
  try {
    return openRegular(path, constants.O_RDONLY)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw new CassError('conversation_unreadable', `cannot read '${path}': ${reasonOf(error)}`, {
      cause: error,
      hint: isOtherKind(error)
        ? 'move it away, and put the log back if there is a copy of it'
        : 'check the permissions of the file and its folder',
    })
  }
}

/**
 * The header that a log begins with, without reading the rest; null when its first line is none. A few hundred bytes: only a
 * branch's label, in the header of an upgraded chat, may make it longer.
 */
export function readLogHeader(path: string): LogHeaderEntry | null {
  const fd = openToRead(path)
  if (fd === null) return null
  try {
    const start = Buffer.allocUnsafe(16 * 1024)
    const read = readSync(fd, start, 0, start.length, 0)
    const end = start.subarray(0, read).indexOf(0x0a)
    const entry = tryParseEntry(start.toString('utf8', 0, end === -1 ? read : end))
    return entry?.type === 'log' ? entry : null
  } finally {
    closeSync(fd)
  }
}

/** The error of a write that the system cut; the rest of it is not tried, since a plan may change. */
export function shortWrite(written: number, wanted: number): CassError {
  return new CassError('short_write', `only ${written} of ${wanted} bytes were written`)
}

export interface FileStat {
  readonly size: number
  readonly mtimeMs: number
  readonly ino: string
}

/** Size and identity of a file, null when it is missing. */
export function statOrNull(path: string): FileStat | null {
  try {
    const { size, mtimeMs, ino } = statSync(path, { bigint: true })
    return { size: Number(size), mtimeMs: Number(mtimeMs), ino: String(ino) }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Whether the file has bytes and the last one is no newline. */
function endsOpen(fd: number): boolean {
  const { size } = fstatSync(fd)
  if (size === 0) return false
  const last = Buffer.alloc(1)
  readSync(fd, last, 0, 1, size - 1)
  return last[0] !== 0x0a
}
