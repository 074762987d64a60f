import { boundedLine, cutAt, limits } from './limits.ts'
import type { LineRange } from './lineRange.ts'
import { decodeWide, type Encoding, tryDecodeUtf8 } from './text.ts'

interface KeptLine {
  /** The beginning of the line, without its end. */
  readonly bytes: Buffer
  /** How many bytes the whole line has. */
  readonly length: number
}

// More than is ever shown of a line, in any encoding.
const keptBytes = limits.readLine * 4

/** Cuts a stream of bytes into lines and keeps those of a range, each only as far as it will be shown. */
export class LineScanner {
  /** Lines passed so far: all of the file's when its end was reached. */
  seen = 0
  hasCrlf = false
  /** There was no room for the last lines of the range. */
  isCut = false
  private readonly range: LineRange
  private readonly wide: 'utf-16le' | 'utf-16be' | null
  private room: number
  private readonly kept: KeptLine[] = []
  // The line being read, as far as it is kept; how long it is; its last unit; and a unit cut by a chunk's end.
  private line: Buffer = Buffer.alloc(0)
  private length = 0
  private lastUnit = 0
  private carry: Buffer = Buffer.alloc(0)

  constructor(range: LineRange, marked: Encoding | null, room: number) {
    this.range = range
    this.wide = marked === 'utf-16le' || marked === 'utf-16be' ? marked : null
    this.room = room
  }

  get isDone(): boolean {
    return this.isCut || (this.range.end !== null && this.seen >= this.range.end)
  }

  push(chunk: Buffer): void {
    const unit = this.wide === null ? 1 : 2
    const bytes = this.carry.length > 0 ? Buffer.concat([this.carry, chunk]) : chunk
    const whole = bytes.length - (bytes.length % unit)
    // Copied, since the buffer that was read into is used again.
    this.carry = Buffer.from(bytes.subarray(whole))
    for (let from = 0; from < whole && !this.isDone; ) {
      const end = this.findLineEnd(bytes, from, whole)
      this.take(bytes.subarray(from, end === -1 ? whole : end))
      if (end === -1) return
      this.endLine(true)
      from = end + unit
    }
  }

  /** The end of the file: a last line needs no line end. */
  finish(): void {
    if (this.length > 0 && !this.isDone) this.endLine(false)
  }

  /** The kept lines as texts, and the encoding that they are in when no mark says it. */
  decode(marked: Encoding | null): { readonly encoding: Encoding; readonly lines: ReadonlyArray<string> } {
    const encoding = marked ?? (this.kept.every(isUtf8) ? 'utf-8' : 'latin-1')
    return { encoding, lines: this.kept.map((line) => showLine(line, encoding)) }
  }

  private findLineEnd(bytes: Buffer, from: number, whole: number): number {
    if (this.wide === null) return bytes.subarray(0, whole).indexOf(0x0a, from)
    for (let at = from; at < whole; at += 2) if (this.unitAt(bytes, at) === 0x0a) return at
    return -1
  }

  private unitAt(bytes: Buffer, at: number): number {
    if (this.wide === null) return bytes[at] ?? 0
    return this.wide === 'utf-16le' ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at)
  }

  private take(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.length += bytes.length
    this.lastUnit = this.unitAt(bytes, bytes.length - (this.wide === null ? 1 : 2))
    if (this.seen + 1 < this.range.start || this.line.length >= keptBytes) return
    this.line = Buffer.concat([this.line, bytes.subarray(0, keptBytes - this.line.length)])
  }

  private endLine(hasLineFeed: boolean): void {
    const returns = hasLineFeed && this.length > 0 && this.lastUnit === 0x0d
    if (returns) this.hasCrlf = true
    if (this.seen + 1 >= this.range.start) {
      const length = this.length - (returns ? (this.wide === null ? 1 : 2) : 0)
      this.room -= Math.min(length, limits.readLine) + 10
      // One line is always shown, whatever the room.
      if (this.room < 0 && this.kept.length > 0) {
        this.isCut = true
        return
      }
      this.kept.push({ bytes: this.line.subarray(0, length), length })
    }
    this.seen += 1
    this.line = Buffer.alloc(0)
    this.length = 0
    this.lastUnit = 0
  }
}

function isUtf8({ bytes, length }: KeptLine): boolean {
  if (tryDecodeUtf8(bytes) !== null) return true
  // A line that is not kept whole may be cut within a character.
  return bytes.length < length && [1, 2, 3].some((cut) => tryDecodeUtf8(bytes.subarray(0, -cut)) !== null)
}

function showLine({ bytes, length }: KeptLine, encoding: Encoding): string {
  const text = decodeLine(bytes, encoding)
  if (bytes.length === length) return boundedLine(text, limits.readLine)
  return `${cutAt(text, limits.readLine)}… [line of ${length} bytes]`
}

function decodeLine(bytes: Buffer, encoding: Encoding): string {
  if (encoding === 'latin-1') return bytes.toString('latin1')
  if (encoding === 'utf-8') return bytes.toString('utf8')
  return decodeWide(bytes.subarray(0, bytes.length - (bytes.length % 2)), encoding)
}
