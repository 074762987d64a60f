import { assertNever, CassError } from '../errors.ts'
import { isJsonObject, stringifyJson, tryParseJson } from './json.ts'
import { isMessage, type Message } from './message.ts'
import { isRawEntry, isRawMessageEntry, type RawEntry, type RawMessageEntry } from './rawEntry.ts'
import { type BranchFrom, branchFromOf } from './record.ts'

/** Raise it when a reader of the older number would read a log wrongly. Other numbers are refused, not guessed. */
export const LOG_SCHEMA_VERSION = 2
/** The head every log starts with; its chat id is the conversation's id. */
export const MAIN_HEAD = 'main'

/** What a transcript's `meta` needs to know of the conversation, so that the log alone can rebuild it. */
export interface LogMeta {
  readonly created_at: string
  readonly model: string
  readonly cwd: string
  readonly parent_chat_id?: string
  readonly branch_from?: BranchFrom
}

/** The checkpoint a branch was made at, on its parent branch. */
export interface ForkCheckpoint {
  readonly record_index: number
  readonly tool_call_id?: string
  readonly label: string
}

/** How a branch came to be. */
export type BranchKind = (typeof BRANCH_KINDS)[number]
const BRANCH_KINDS = ['main', 'fork', 'rewind', 'concurrent'] as const

/** What every line has. Of the fields of an entry, those that are empty on disk are null in memory. */
interface Base {
  /** '' when the line names none. */
  readonly writer: string
  /** RFC 3339; '' when the line has none. */
  readonly at: string
}

interface OnHead extends Base {
  readonly head: string
}

/** The first line of a log. */
export interface LogHeaderEntry extends Base {
  readonly type: 'log'
  readonly generation: number
  readonly upgraded_from_schema: number | null
  readonly meta: LogMeta | null
}

/** Names a process before its first line. */
export interface WriterEntry extends Base {
  readonly type: 'writer'
  readonly pid: number | null
  readonly hostname: string | null
}

/** A message behind its parent. */
export interface MessageEntry extends OnHead {
  readonly type: 'message'
  readonly id: string
  readonly turn: string | null
  /** Null: the message is a root. */
  readonly parent: string | null
  readonly digest: string | null
  readonly fs: number | null
  readonly ws: string | null
  readonly msgs: readonly [Message]
}

/** A new head, made on `head`. */
export interface ForkEntry extends OnHead {
  readonly type: 'fork'
  readonly new_head: string
  /** Null: before the first message. */
  readonly from: string | null
  readonly kind: BranchKind
  readonly name: string | null
  readonly checkpoint: ForkCheckpoint | null
}

/** The start of a turn; `leaf` is the parent of its user message. */
export interface TurnBeginEntry extends OnHead {
  readonly type: 'turn_begin'
  readonly turn: string
  readonly leaf: string | null
  readonly preserve_user: boolean
}

/** One line of a log. The last six types are read, never written. */
export type LogEntry =
  | LogHeaderEntry
  | WriterEntry
  | MessageEntry
  | ForkEntry
  | TurnBeginEntry
  | (OnHead & { readonly type: 'turn_end'; readonly turn: string | null })
  | (OnHead & { readonly type: 'select'; readonly reason: string | null })
  | (OnHead & { readonly type: 'rename'; readonly name: string })
  | (OnHead & { readonly type: 'retire' })
  | (OnHead & { readonly type: 'patch'; readonly target: string; readonly msgs: readonly [Message] })
  | (OnHead & { readonly type: 'system'; readonly msgs: readonly [Message] })
  | (OnHead & { readonly type: 'rewind'; readonly to: string | null; readonly cause: string | null })
  | (OnHead & { readonly type: 'redact'; readonly targets: ReadonlyMap<string, Message> })
  | (OnHead & { readonly type: 'compaction'; readonly covered_leaf: string | null })
  | (Base & { readonly type: 'checkpoint' })

/** The closed vocabulary of the format. */
export const ENTRY_TYPES: ReadonlySet<string> = new Set<LogEntry['type']>([
  'log',
  'message',
  'patch',
  'system',
  'fork',
  'rewind',
  'select',
  'rename',
  'retire',
  'turn_begin',
  'turn_end',
  'compaction',
  'redact',
  'writer',
  'checkpoint',
])

/**
 * The entry of a line. A line that is none (a hole) throws `log_bad_line`; one of another format throws
 * `log_unknown_schema` or `log_unknown_type`: then the whole log must be refused, not the line skipped.
 */
export function parseEntry(line: string): LogEntry {
  const entry = tryParseEntry(line)
  if (entry === null) throw new CassError('log_bad_line', 'a line of the log is not an entry')
  return entry
}

/** The entry of a line, null for a hole; throws only what `parseEntry` throws for another format. */
export function tryParseEntry(line: string): LogEntry | null {
  const value = tryParseJson(line)
  if (!isJsonObject(value) || typeof value.type !== 'string') return null
  if (typeof value.schema_version !== 'number') return null
  assertKnownHeader(value.schema_version, value.type)
  if (value.type === 'message') return isRawMessageEntry(value) ? messageEntryOf(value, value.msgs) : null
  return isRawEntry(value) ? entryOf(value) : null
}

/** Throws the two errors for which a log is refused as a whole. */
function assertKnownHeader(schemaVersion: number, type: string): void {
  if (schemaVersion !== LOG_SCHEMA_VERSION) {
    throw new CassError(
      'log_unknown_schema',
      `the log has schema version '${schemaVersion}', not '${LOG_SCHEMA_VERSION}'`,
      {
        hint: 'use a newer version of cass to open this conversation',
        data: { schema_version: schemaVersion },
      },
    )
  }
  if (!ENTRY_TYPES.has(type)) {
    throw new CassError('log_unknown_type', `the log has an entry of unknown type '${type}'`, {
      hint: 'use a newer version of cass to open this conversation',
      data: { type },
    })
  }
}

function messageEntryOf(raw: RawMessageEntry, body: unknown): MessageEntry | null {
  const { id, head, writer = '', turn, at = '', parent, digest, fs = null, ws } = raw
  const msgs = onlyMessage(body, at)
  if (msgs === null || id === '') return null
  const place = { turn: turn || null, at, parent: parent || null, digest: digest || null, fs, ws: ws || null }
  return { type: 'message', id, head: head || MAIN_HEAD, writer, ...place, msgs }
}

function entryOf(raw: RawEntry): LogEntry | null {
  const base = { writer: raw.writer ?? '', at: raw.at ?? '' }
  const onHead = { ...base, head: raw.head || MAIN_HEAD }
  // The caller has refused every other type.
  const type = raw.type as Exclude<LogEntry['type'], 'message'>
  const { target, new_head } = raw
  const turn = raw.turn || null
  switch (type) {
    case 'log': {
      const { generation = 0, upgraded_from_schema = null } = raw
      return { type, ...base, generation, upgraded_from_schema, meta: raw.meta ? metaOf(raw.meta) : null }
    }
    case 'writer':
      return { type, ...base, pid: raw.pid ?? null, hostname: raw.hostname || null }
    case 'fork': {
      const kind = BRANCH_KINDS.find((each) => each === raw.kind) ?? 'fork'
      const names = { kind, name: raw.name || null }
      const checkpoint = raw.checkpoint ? checkpointOf(raw.checkpoint) : null
      return new_head ? { type, ...onHead, new_head, from: raw.from || null, ...names, checkpoint } : null
    }
    case 'turn_begin': {
      const { preserve_user = false } = raw
      return turn ? { type, ...onHead, turn, leaf: raw.leaf || null, preserve_user } : null
    }
    case 'turn_end':
      return { type, ...onHead, turn }
    case 'select':
      return { type, ...onHead, reason: raw.reason || null }
    case 'rename':
      return { type, ...onHead, name: raw.name ?? '' }
    case 'retire':
      return { type, ...onHead }
    case 'patch': {
      const msgs = onlyMessage(raw.msgs, base.at)
      return msgs && target ? { type, ...onHead, target, msgs } : null
    }
    case 'system': {
      const msgs = onlyMessage(raw.msgs, base.at)
      return msgs && { type, ...onHead, msgs }
    }
    case 'rewind':
      return { type, ...onHead, to: raw.to || null, cause: raw.cause || null }
    case 'redact': {
      const targets = targetsOf(raw.targets ?? {}, base.at)
      return targets && { type, ...onHead, targets }
    }
    case 'compaction':
      return { type, ...onHead, covered_leaf: raw.covered_leaf || null }
    case 'checkpoint':
      return { type, ...base }
    default:
      return assertNever(type)
  }
}

/** Other writers leave out what is empty, and the time, which the entry has. */
function onlyMessage(value: unknown, at: string): readonly [Message] | null {
  if (!Array.isArray(value) || value.length !== 1 || !isJsonObject(value[0])) return null
  const message = { ...value[0], content: value[0].content ?? '', ts: value[0].ts ?? at }
  // A later version may know more notices than `Notice`; all are treated alike.
  return isMessage(message) ? [message as Message] : null
}

function targetsOf(raw: Readonly<Record<string, unknown>>, at: string): ReadonlyMap<string, Message> | null {
  const targets = new Map<string, Message>()
  for (const [id, value] of Object.entries(raw)) {
    const msgs = onlyMessage(value, at)
    if (msgs === null) return null
    targets.set(id, msgs[0])
  }
  return targets
}

function metaOf({ created_at, model, cwd, ...rest }: NonNullable<RawEntry['meta']>): LogMeta {
  return {
    created_at,
    model,
    cwd,
    ...(rest.parent_chat_id ? { parent_chat_id: rest.parent_chat_id } : {}),
    ...(rest.branch_from ? { branch_from: branchFromOf(rest.branch_from) } : {}),
  }
}

function checkpointOf(raw: NonNullable<RawEntry['checkpoint']>): ForkCheckpoint {
  const { record_index, tool_call_id, label } = raw
  return { record_index, ...(tool_call_id ? { tool_call_id } : {}), label }
}

/** Headers first and bodies last, so that readers find what they need without parsing the line. */
const KEY_ORDER = [
  ...['type', 'id', 'head', 'writer', 'turn', 'at', 'parent', 'digest', 'fs', 'ws'],
  ...['new_head', 'from', 'kind', 'name', 'checkpoint', 'to', 'cause', 'reason', 'leaf', 'preserve_user'],
  ...['covered_leaf', 'target', 'pid', 'hostname', 'generation', 'upgraded_from_schema', 'meta'],
]

/** The line of an entry, without its line end. Empty fields are left out. */
export function stringifyEntry(entry: LogEntry): string {
  const fields: Readonly<Record<string, unknown>> = { ...entry }
  const line: Record<string, unknown> = { schema_version: LOG_SCHEMA_VERSION }
  for (const key of KEY_ORDER) {
    const value = fields[key]
    if (value !== undefined && value !== null && value !== '' && value !== false) line[key] = value
  }
  if (entry.type === 'redact') {
    line.targets = Object.fromEntries(Array.from(entry.targets, ([id, message]) => [id, [message]]))
  }
  // Readers tell a message's role from the start of its body.
  if ('msgs' in entry)
    line.msgs = entry.msgs.map(({ role, content, ...rest }) => ({ role, content, ...rest }))
  return stringifyJson(line)
}
