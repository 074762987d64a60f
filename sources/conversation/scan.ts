import { isUtf8 } from 'node:buffer'
import { LOG_SCHEMA_VERSION, type LogEntry, MAIN_HEAD, tryParseEntry } from './entry.ts'
import { isJsonObject, tryParseJson } from './json.ts'
import type { Role } from './message.ts'

/**
 * One line of a log, as far as replaying needs it. Of a message only the header is parsed: 250 MB of conversation are
 * a few MB of headers.
 */
export type ScannedLine =
  | {
      readonly type: 'message'
      readonly header: MessageHeader
      readonly role: Role
      readonly offset: number
      readonly length: number
    }
  | {
      readonly type: 'entry'
      readonly entry: Exclude<LogEntry, { type: 'message' }>
      readonly offset: number
      readonly length: number
    }
  | { readonly type: 'hole'; readonly offset: number; readonly length: number }

export interface MessageHeader {
  readonly id: string
  readonly head: string
  readonly writer: string | null
  readonly turn: string | null
  readonly at: string
  readonly parent: string | null
  readonly fs: number | null
  readonly ws: string | null
}

const newline = 0x0a
const bodyMark = Buffer.from(',"msgs":[')
const entryMark = Buffer.from('{"schema_version":')
/** Bounds the work on one bad line. */
const maxPieces = 64
const roleMark = Buffer.from('{"role":"')
/** How a message line ends when its last key is `msgs`; any other end is decided by parsing the line whole. */
const messageEnd = Buffer.from('}]}')
/** A header that is longer than this is not one of ours; the line is parsed whole (docs/storage.md, the log). */
const headerLimit = 4096
const roles: ReadonlyMap<string, Role> = new Map(
  (['system', 'user', 'assistant', 'tool'] as const).map((role) => [role, role]),
)

/**
 * Cuts bytes into lines across any chunk borders and says what each line is. `position` is where the first chunk
 * stands in the file. Throws `log_unknown_type` or `log_unknown_schema` for a line of another format.
 */
export class LogScanner {
  #carried: Buffer[] = []
  #lineStart: number

  constructor(position: number) {
    this.#lineStart = position
  }

  /** The chunk is not kept, so its memory may be used again. */
  push(chunk: Buffer, visit: (line: ScannedLine) => void): void {
    let start = 0
    // Asked of all lines at once where they are sound, as nearly always: two questions a line are a tenth of a long scan.
    const whole = chunk.subarray(chunk.indexOf(newline) + 1, chunk.lastIndexOf(newline) + 1)
    const areText = isText(whole)
    for (;;) {
      const end = chunk.indexOf(newline, start)
      if (end === -1) break
      const isFirst = start === 0
      const line = this.#take(chunk.subarray(start, end))
      if (line.length > 0)
        visitLine(line, this.#lineStart, { visit, isText: (areText && !isFirst) || isText(line) })
      this.#lineStart += line.length + 1
      start = end + 1
    }
    if (start < chunk.length) this.#carried.push(Buffer.from(chunk.subarray(start)))
  }

  /**
   * Judges a last line without a newline: it counts if it parses, else it is not there yet (another process may be
   * writing it). Gives the position up to which everything is read.
   */
  finish(visit: (line: ScannedLine) => void): { readonly end: number; readonly torn: boolean } {
    const line = this.#take(Buffer.alloc(0))
    if (line.length === 0) return { end: this.#lineStart, torn: false }
    if (line.at(-1) !== 0x7d) return { end: this.#lineStart, torn: true }
    const scanned = scanWholeLine(line, this.#lineStart)
    if (scanned.type === 'hole') return { end: this.#lineStart, torn: true }
    visit(scanned)
    return { end: this.#lineStart + line.length, torn: false }
  }

  #take(last: Buffer): Buffer {
    if (this.#carried.length === 0) return last
    const line = Buffer.concat([...this.#carried, last])
    this.#carried = []
    return line
  }
}

/**
 * Other programs append to a torn line without starting a new one, so whole entries may stand in a line that is none. Inside a
 * text the mark cannot stand, since its quotes would be escaped.
 */
function visitLine(
  line: Buffer,
  offset: number,
  { visit, isText: lineIsText }: { readonly visit: (line: ScannedLine) => void; readonly isText: boolean },
): void {
  const scanned = scanLine(line, offset, lineIsText)
  const starts = [0]
  let at = scanned.type === 'hole' ? line.indexOf(entryMark, 1) : -1
  for (; at !== -1 && starts.length < maxPieces; at = line.indexOf(entryMark, at + 1)) starts.push(at)
  if (starts.length === 1) {
    visit(scanned)
    return
  }
  for (const [position, start] of starts.entries())
    visitPiece(line.subarray(start, starts[position + 1] ?? line.length), offset + start, visit)
}

function visitPiece(piece: Buffer, offset: number, visit: (line: ScannedLine) => void): void {
  visit(scanLine(piece, offset, isText(piece)))
}

/** Whether bytes are UTF-8 without a NUL; a line that is not is a hole. */
function isText(bytes: Buffer): boolean {
  return bytes.indexOf(0) === -1 && isUtf8(bytes)
}

function scanLine(line: Buffer, offset: number, lineIsText: boolean): ScannedLine {
  const { length } = line
  if (!lineIsText) return { type: 'hole', offset, length }
  const body = line.indexOf(bodyMark)
  if (body === -1 || body > headerLimit || !endsWith(line, messageEnd)) return scanWholeLine(line, offset)
  const header = tryParseHeader(`${line.toString('utf8', 0, body)}}`)
  const role = roleAt(line, body + bodyMark.length)
  if (header === null || role === null) return scanWholeLine(line, offset)
  return { type: 'message', header, role, offset, length }
}

/** The exact judgement: the line is parsed with its body. */
function scanWholeLine(line: Buffer, offset: number): ScannedLine {
  const { length } = line
  const entry = isUtf8(line) ? tryParseEntry(line.toString('utf8')) : null
  if (entry === null) return { type: 'hole', offset, length }
  if (entry.type !== 'message') return { type: 'entry', entry, offset, length }
  const { id, head, writer, turn, at, parent, fs, ws, msgs } = entry
  const header = { id, head, writer: writer === '' ? null : writer, turn, at, parent, fs, ws }
  return { type: 'message', header, role: msgs[0].role, offset, length }
}

function tryParseHeader(text: string): MessageHeader | null {
  const value = tryParseJson(text)
  // The mark may have stood inside something else, and other types are rare: the whole line decides then.
  if (!isJsonObject(value) || value.type !== 'message' || value.schema_version !== LOG_SCHEMA_VERSION)
    return null
  const id = textOf(value.id)
  if (id === null) return null
  return {
    id,
    head: textOf(value.head) ?? MAIN_HEAD,
    writer: textOf(value.writer),
    turn: textOf(value.turn),
    at: textOf(value.at) ?? '',
    parent: textOf(value.parent),
    fs: typeof value.fs === 'number' ? value.fs : null,
    ws: textOf(value.ws),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function roleAt(line: Buffer, start: number): Role | null {
  const nameStart = start + roleMark.length
  if (roleMark.compare(line, start, nameStart) !== 0) return null
  const nameEnd = line.indexOf(0x22, nameStart)
  return roles.get(line.toString('latin1', nameStart, nameEnd)) ?? null
}

function endsWith(line: Buffer, end: Buffer): boolean {
  return line.length >= end.length && end.compare(line, line.length - end.length) === 0
}
