import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import type { LineRange } from './lineRange.ts'
import { LineScanner } from './lineScanner.ts'
import { ToolFailure } from './outcome.ts'
import { type Encoding, isBinary, probeBytes, readMark } from './text.ts'

/** The lines of a range as they are shown, without line ends. */
export interface ReadLines {
  readonly lines: ReadonlyArray<string>
  /** How many lines were passed; when `lines` is empty, how many the file has. */
  readonly seen: number
  readonly hasCrlf: boolean
  readonly encoding: Encoding
  readonly mark: Buffer
  /** There was no room for the last lines of the range. */
  readonly isCut: boolean
}

export interface ReadLinesOptions {
  readonly range: LineRange
  /** Room for the lines, in characters. At least one line is always shown. */
  readonly room: number
  readonly signal: AbortSignal
}

const chunkBytes = 256 * 1024

/**
 * Reads a range of lines of the file at a canonical path, holding only the range in memory. Throws when it is no
 * regular file, is binary, or the path leads through a link by now.
 */
export async function readLines(real: string, options: ReadLinesOptions): Promise<ReadLines> {
  const handle = await openReal(real)
  try {
    return await scanLines(handle, real, options)
  } finally {
    await handle.close()
  }
}

/** Opens a canonical path for reading. What is open is what was checked: no link on the way, also not put there late. */
export async function openReal(real: string): Promise<FileHandle> {
  // Not blocking, so that a pipe in the place of a file does not wait for a writer.
  const handle = await open(
    real,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  )
  try {
    if (!(await handle.stat()).isFile()) throw new ToolFailure(`not a file: ${real}`)
    if ((await realpath(real)) !== real)
      throw new ToolFailure(`the path changed while it was opened: ${real}`)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function scanLines(handle: FileHandle, real: string, options: ReadLinesOptions): Promise<ReadLines> {
  const { range, room, signal } = options
  const buffer = Buffer.allocUnsafe(chunkBytes)
  const { bytesRead: probed } = await handle.read(buffer, 0, probeBytes, 0)
  const beginning = Buffer.from(buffer.subarray(0, probed))
  if (isBinary(beginning)) throw new ToolFailure(`binary files are unsupported: ${real}`)
  const { encoding: marked, mark } = readMark(beginning)
  const scanner = new LineScanner(range, marked, room)
  for (let position = mark.length; !scanner.isDone; ) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position)
    if (bytesRead === 0) {
      scanner.finish()
      break
    }
    position += bytesRead
    scanner.push(buffer.subarray(0, bytesRead))
  }
  const { seen, hasCrlf, isCut } = scanner
  return { seen, hasCrlf, isCut, mark, ...scanner.decode(marked) }
}
