import * as t from 'typanion'
import { errnoOf } from '../errors.ts'
import { replaceDerivedFile } from '../files/durable.ts'
import { readRegular, reasonOf } from '../files/openRegular.ts'
import type { Conversation } from './conversation.ts'
import type { LogMeta } from './entry.ts'
import { type Head, isCovered, selectedHead } from './graph.ts'
import { tryParseJson } from './json.ts'
import { readLogHeader, statOrNull } from './logFile.ts'
import { indexPath, logPath } from './paths.ts'
import { firstLine } from './preview.ts'
import { type BranchFrom, isBranchFrom } from './record.ts'

/** What lists need to know of a head, so that they need not read the log. Keys are those on disk. */
export interface HeadRecord {
  readonly id: string
  readonly kind: string
  readonly name?: string
  readonly parent_head?: string
  readonly fork_from?: string
  readonly writer?: string
  readonly leaf?: string
  readonly created_at: string
  readonly last_activity: string
  readonly retired?: boolean
  readonly selected?: boolean
  readonly covered?: boolean
  readonly message_count: number
  readonly turns: number
  readonly preview?: string
  // What follows is ours; other readers pass it over.
  readonly records: number
  readonly open_turn?: boolean
  readonly branch_from?: BranchFrom
  readonly transcript?: TranscriptMark
}

/** How a transcript was when this program last wrote it: as long as it is so, it holds what we wrote. */
export interface TranscriptMark {
  readonly records: number
  /** The message of the last record; omitted: there was none. */
  readonly leaf?: string
  readonly size: number
  readonly mtime_ms: number
  readonly inode: string
}

export interface HeadsIndex {
  readonly schema_version: 2
  readonly log_size: number
  readonly log_generation: number
  readonly selected_head: string
  readonly message_count: number
  readonly writer_id: string
  readonly updated_at: string
  readonly meta: LogMeta
  readonly heads: ReadonlyArray<HeadRecord>
}

const isHeadRecord = t.isPartial({
  id: t.isString(),
  kind: t.isString(),
  name: t.isOptional(t.isString()),
  parent_head: t.isOptional(t.isString()),
  fork_from: t.isOptional(t.isString()),
  writer: t.isOptional(t.isString()),
  leaf: t.isOptional(t.isString()),
  created_at: t.isString(),
  last_activity: t.isString(),
  retired: t.isOptional(t.isBoolean()),
  selected: t.isOptional(t.isBoolean()),
  covered: t.isOptional(t.isBoolean()),
  message_count: t.isNumber(),
  turns: t.isNumber(),
  preview: t.isOptional(t.isString()),
  records: t.isNumber(),
  open_turn: t.isOptional(t.isBoolean()),
  branch_from: t.isOptional(isBranchFrom),
  transcript: t.isOptional(
    t.isPartial({
      records: t.isNumber(),
      leaf: t.isOptional(t.isString()),
      size: t.isNumber(),
      mtime_ms: t.isNumber(),
      inode: t.isString(),
    }),
  ),
})
const isHeadsIndex = t.isPartial({
  schema_version: t.isLiteral(2),
  log_size: t.isNumber(),
  log_generation: t.isNumber(),
  selected_head: t.isString(),
  message_count: t.isNumber(),
  writer_id: t.isString(),
  updated_at: t.isString(),
  meta: t.isPartial({ created_at: t.isString(), model: t.isString(), cwd: t.isString() }),
  heads: t.isArray(isHeadRecord),
})

/**
 * The index, also one that the log has outgrown (its transcript marks are still true), or null when there is none
 * that can be read: it is derived, so nothing is lost with it.
 */
export function readHeadsIndex(root: string, conversation: string): HeadsIndex | null {
  const { value } = tryReadIndex(root, conversation)
  return isHeadsIndex(value) ? (value as HeadsIndex) : null
}

/** Why the index cannot be read; null when it can, or is missing, or is one of another program. */
export function whyIndexIsUnreadable(root: string, conversation: string): string | null {
  const { value, problem } = tryReadIndex(root, conversation)
  return problem ?? (value === undefined ? 'it is no JSON' : null)
}

interface ReadIndex {
  /** Undefined: it is no JSON, or cannot be read. Null: there is none. */
  readonly value: unknown
  readonly problem: string | null
}

function tryReadIndex(root: string, conversation: string): ReadIndex {
  try {
    const text = readRegular(indexPath(root, conversation)).toString('utf8')
    return { value: tryParseJson(text), problem: null }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { value: null, problem: null }
    if (errnoOf(error) === null) throw error
    return { value: undefined, problem: reasonOf(error) }
  }
}

/** The index if it tells all of the log as it is on disk now; lists then need not read the log. */
export function readTrustedIndex(root: string, conversation: string): HeadsIndex | null {
  const index = readHeadsIndex(root, conversation)
  const file = logPath(root, conversation)
  if (index === null || statOrNull(file)?.size !== index.log_size) return null
  return (readLogHeader(file)?.generation ?? 0) === index.log_generation ? index : null
}

export async function writeHeadsIndex(root: string, conversation: string, index: HeadsIndex): Promise<void> {
  await replaceDerivedFile(indexPath(root, conversation), `${JSON.stringify(index, null, 2)}\n`)
}

/** Tells a conversation's heads from its graph. What `previous` knows is not read again. */
export function makeHeadsIndex(
  conversation: Conversation,
  {
    previous,
    writer,
    now,
  }: { readonly previous: HeadsIndex | null; readonly writer: string; readonly now: string },
): HeadsIndex {
  const { graph } = conversation
  const selected = selectedHead(graph)
  const known = new Map(previous?.heads.map((record) => [record.id, record]))
  const open = new Set([...graph.openTurns.values()].map(({ head }) => head))
  const heads = new Map<string, HeadRecord>()
  for (const head of graph.heads.values()) {
    const node = head.leaf === null ? undefined : graph.nodes.get(head.leaf)
    const record = known.get(head.id)
    const parent = head.parentHead === null ? undefined : heads.get(head.parentHead)
    const from = branchFromOfHead(conversation, head)
    const preview =
      record?.preview ?? sharedPreview(conversation, head, parent) ?? previewOf(conversation, head)
    heads.set(head.id, {
      id: head.id,
      kind: head.kind,
      ...(head.name === null ? {} : { name: head.name }),
      ...(head.parentHead === null ? {} : { parent_head: head.parentHead }),
      ...(head.from === null ? {} : { fork_from: head.from }),
      ...(head.writer === null ? {} : { writer: head.writer }),
      ...(head.leaf === null ? {} : { leaf: head.leaf }),
      created_at: head.createdAt,
      last_activity: head.lastActivity,
      ...(head.retired ? { retired: true } : {}),
      ...(head.id === selected ? { selected: true } : {}),
      ...(isCovered(graph, head, selected) ? { covered: true } : {}),
      message_count: node === undefined ? 0 : node.depth + 1,
      turns: node?.turns ?? 0,
      ...(preview === null ? {} : { preview }),
      records: conversation.recordCount(head.id),
      ...(open.has(head.id) ? { open_turn: true } : {}),
      ...(from === null ? {} : { branch_from: from }),
      ...(record?.transcript === undefined ? {} : { transcript: record.transcript }),
    })
  }
  return {
    schema_version: 2,
    log_size: conversation.log.position,
    log_generation: graph.generation,
    selected_head: selected,
    message_count: graph.nodes.size,
    writer_id: writer,
    updated_at: now,
    meta: conversation.meta,
    heads: [...heads.values()],
  }
}

/** Where a head left its parent, as a transcript's `meta` tells it; null for one that left none. */
export function branchFromOfHead(conversation: Conversation, head: Head): BranchFrom | null {
  if (head.parentHead === null) return conversation.meta.branch_from ?? null
  const chat_id = conversation.chatIdOf(head.parentHead)
  if (head.checkpoint !== null) {
    const { record_index, tool_call_id, label } = head.checkpoint
    return {
      ...{ chat_id, record_index },
      ...(tool_call_id === undefined ? {} : { tool_call_id }),
      checkpoint_label: label,
    }
  }
  const node = head.from === null ? undefined : conversation.graph.nodes.get(head.from)
  return { chat_id, record_index: node?.index ?? 1, checkpoint_label: node?.role ?? 'start' }
}

/** The parent's preview, when the branch starts behind the message that it shows. */
function sharedPreview(
  conversation: Conversation,
  head: Head,
  parent: HeadRecord | undefined,
): string | null {
  const from = head.from === null ? undefined : conversation.graph.nodes.get(head.from)
  return from !== undefined && from.turns > 0 ? (parent?.preview ?? null) : null
}

function previewOf(conversation: Conversation, head: Head): string | null {
  if ((head.leaf === null ? undefined : conversation.graph.nodes.get(head.leaf))?.turns === 0) return null
  const node = conversation.chain(head.id).find(({ role }) => role === 'user')
  const item = node === undefined ? undefined : conversation.items([node], 'outline', head.id)[0]
  return item === undefined ? null : firstLine(item.message.content, 80)
}
