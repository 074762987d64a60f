import path from 'node:path'
import * as t from 'typanion'

/** Raise when a line of today can no longer be read by an older program; such a program reports it as a hole. */
const journalVersion = 1

/** One side of a change. Absent: only `exists` and `bytes` are there. */
export interface FileSide {
  readonly exists: boolean
  readonly sha256?: string
  /** Permission bits as octal digits, for example `644`. */
  readonly mode?: string
  readonly size?: number
  /** Whether the bytes were put into the snapshot store. */
  readonly bytes: boolean
}

type ChangeType = 'edit' | 'restore' | 'undo' | 'redo' | 'shell' | 'outside'
export type LineType = ChangeType | 'void' | 'gap'
export type GapReason = 'symlink' | 'special' | 'oversized' | 'unreadable' | 'capture_failed'

/** One line of `journal.jsonl` (docs/storage.md): a change of one path. Keys are those on disk. */
export interface JournalLine {
  readonly v: 1
  readonly id: string
  readonly writer: string
  readonly type: LineType
  /** Relative to the workspace with `/`; absolute only outside it. */
  readonly path: string
  readonly before: FileSide
  readonly after: FileSide
  /** Folders that had to be made for this file, outermost first; spelled as `path`. */
  readonly created_dirs?: ReadonlyArray<string>
  readonly chat_id?: string
  readonly conversation?: string
  readonly turn?: string
  /** The message that holds, or will hold, the result of the tool call. */
  readonly message_id?: string
  readonly tool_call_id?: string
  readonly tool_name?: string
  readonly operation?: string
  /** Of `void`: the line that did not come to pass. */
  readonly voids?: string
  /** Of `gap`: a `GapReason`. */
  readonly reason?: string
  /** Of `gap`: all the paths, when there are more than `path`. */
  readonly paths?: ReadonlyArray<string>
  readonly partial?: boolean
  /** UTC, RFC 3339. */
  readonly ts: string
}

/** Whose change a line tells of: all but `writer` is left out where there is none. */
export type Attribution = Pick<
  JournalLine,
  'writer' | 'chat_id' | 'conversation' | 'turn' | 'message_id' | 'tool_call_id' | 'tool_name' | 'operation'
>

/** What a line says beside whose it is and when it was written. */
export type LineContent = Pick<
  JournalLine,
  'type' | 'path' | 'before' | 'after' | 'created_dirs' | 'voids' | 'reason' | 'paths' | 'partial'
>

/** Where new lines get their ids and times from. Ids are unique and hold only letters, digits, `-` and `_`. */
export interface LineSource {
  readonly now: () => Date
  readonly newId: () => string
}

/** A line with its keys in the order of the contract. */
export function makeJournalLine(source: LineSource, by: Attribution, content: LineContent): JournalLine {
  const { type, path: file, before, after, created_dirs, ...rest } = content
  const { writer, ...whose } = by
  const line: JournalLine = {
    v: journalVersion,
    id: source.newId(),
    writer,
    type,
    path: file,
    before,
    after,
    ...(created_dirs === undefined || created_dirs.length === 0 ? {} : { created_dirs }),
    ...whose,
    ...rest,
    ts: source.now().toISOString(),
  }
  // What could not be read again would be a hole, and the change that it tells of unknown.
  if (!isJournalLine(line)) throw new Error(`Assertion failed: no journal line: ${JSON.stringify(line)}`)
  return line
}

/** The line that takes `line` back: what it announced did not come to pass. */
export function makeVoidLine(source: LineSource, writer: string, line: JournalLine): JournalLine {
  const { chat_id, conversation, turn } = line
  const whose = { ...(chat_id === undefined ? {} : { chat_id }), ...(turn === undefined ? {} : { turn }) }
  return makeJournalLine(
    source,
    { writer, ...whose, ...(conversation === undefined ? {} : { conversation }) },
    { type: 'void', path: line.path, before: line.before, after: line.after, voids: line.id },
  )
}

/** A line and where it ends in the journal: behind its last byte, without the line break. */
export interface PlacedLine {
  readonly line: JournalLine
  readonly end: number
}

/** Bytes that are no line: damaged, or of a later version. They are skipped and reported, never removed. */
export interface JournalHole {
  readonly start: number
  readonly end: number
  readonly reason: 'nul_bytes' | 'bad_utf8' | 'not_json' | 'not_a_line' | 'unknown_version'
}

export interface ParsedJournal {
  readonly lines: ReadonlyArray<PlacedLine>
  readonly holes: ReadonlyArray<JournalHole>
  /** Where to go on reading: a torn last line that does not parse yet is not counted in. */
  readonly consumed: number
}

const changeTypes: ReadonlySet<string> = new Set(['edit', 'restore', 'undo', 'redo', 'shell', 'outside'])

/** Whether a line says that a path changed, as against `void` and `gap`. */
export function isChange(line: JournalLine): boolean {
  return changeTypes.has(line.type)
}

const isSide = t.isPartial({
  exists: t.isBoolean(),
  sha256: t.isOptional(t.cascade(t.isString(), t.matchesRegExp(/^[0-9a-f]{64}$/))),
  mode: t.isOptional(t.cascade(t.isString(), t.matchesRegExp(/^[0-7]{1,4}$/))),
  size: t.isOptional(t.isNumber()),
  bytes: t.isBoolean(),
})

/** Ids become part of a file name (the temporary file of a change), so they hold nothing but these characters. */
const isId = t.cascade(t.isString(), t.matchesRegExp(/^[A-Za-z0-9_-]{1,80}$/))

const isLineShape = t.isPartial({
  v: t.isLiteral(journalVersion),
  id: isId,
  writer: t.isString(),
  type: t.isEnum(['edit', 'restore', 'undo', 'redo', 'shell', 'outside', 'void', 'gap']),
  path: t.isString(),
  before: isSide,
  after: isSide,
  created_dirs: t.isOptional(t.isArray(t.isString())),
  chat_id: t.isOptional(t.isString()),
  conversation: t.isOptional(t.isString()),
  turn: t.isOptional(t.isString()),
  message_id: t.isOptional(t.isString()),
  tool_call_id: t.isOptional(t.isString()),
  tool_name: t.isOptional(t.isString()),
  operation: t.isOptional(t.isString()),
  voids: t.isOptional(t.isString()),
  reason: t.isOptional(t.isString()),
  paths: t.isOptional(t.isArray(t.isString())),
  partial: t.isOptional(t.isBoolean()),
  ts: t.isString(),
})

/** Checks one parsed line; unknown keys are allowed, since later versions may add some. */
export function isJournalLine(value: unknown): value is JournalLine {
  if (!isLineShape(value)) return false
  if (value.type === 'void' && value.voids === undefined) return false
  if (value.type === 'gap' && value.reason === undefined) return false
  return isJournalPath(value.path) && (value.created_dirs ?? []).every(isJournalPath)
}

/** A path from the journal is used on disk, so it must not lead out of the workspace by `..`, nor be no path at all. */
export function isJournalPath(file: string): boolean {
  if (file === '' || file.includes('\0')) return false
  if (path.isAbsolute(file)) return path.normalize(file) === file
  return file.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** How the journal spells a canonical path. */
export function journalPathOf(root: string, realPath: string): string {
  const relative = path.relative(root, realPath)
  if (
    relative === '' ||
    relative === '..' ||
    relative.startsWith(`..${path.sep}`) ||
    path.isAbsolute(relative)
  )
    return realPath
  return path.sep === '/' ? relative : relative.split(path.sep).join('/')
}

/** The way back from `journalPathOf`. */
export function realPathOf(root: string, journalPath: string): string {
  return path.isAbsolute(journalPath) ? journalPath : path.join(root, ...journalPath.split('/'))
}

/** One line without its line break. Lone surrogates leave as escapes, so the bytes are always valid UTF-8. */
export function stringifyJournalLine(line: JournalLine): string {
  return JSON.stringify(line)
}

/**
 * Splits a stretch of a journal into lines. `base` is the offset of its first byte, which must be the start of the
 * file or a place that an earlier call gave as `consumed`.
 */
export function parseJournal(bytes: Uint8Array, base = 0): ParsedJournal {
  const lines: PlacedLine[] = []
  const holes: JournalHole[] = []
  let start = 0
  while (start < bytes.length) {
    const found = bytes.indexOf(0x0a, start)
    const stop = found === -1 ? bytes.length : found
    if (stop > start) {
      const parsed = parseLine(bytes.subarray(start, stop))
      if (typeof parsed !== 'string') lines.push({ line: parsed, end: base + stop })
      else if (found === -1) return { lines, holes, consumed: base + start }
      else holes.push({ start: base + start, end: base + stop, reason: parsed })
    }
    start = found === -1 ? stop : found + 1
  }
  return { lines, holes, consumed: base + start }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseLine(bytes: Uint8Array): JournalLine | JournalHole['reason'] {
  if (bytes.includes(0)) return 'nul_bytes'
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    // The only thing that a fatal decoder throws for.
    return 'bad_utf8'
  }
  const value = tryParseJson(text)
  if (isJournalLine(value)) return value
  if (value === undefined) return 'not_json'
  const versioned = typeof value === 'object' && value !== null && 'v' in value && typeof value.v === 'number'
  return versioned && value.v !== journalVersion ? 'unknown_version' : 'not_a_line'
}

/** Undefined, which no JSON text gives, for anything else. */
function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The only thing that the parser throws for.
    return undefined
  }
}
