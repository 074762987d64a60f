import { tryParseJson } from './json.ts'
import type { ChainItem, Message, ToolCall } from './message.ts'

/** A place on a branch: its start, a message, or one call of an assistant message. */
export type CheckpointKind = 'start' | 'user' | 'assistant' | 'tool_call' | 'tool_result'

/** A checkpoint as commands print it. */
export interface Checkpoint {
  readonly id: string
  readonly chat_id: string
  readonly conversation: string
  readonly record_index: number
  /** Null: the start of a conversation without a system message. */
  readonly message_id: string | null
  readonly tool_call_id: string | null
  readonly kind: CheckpointKind
  readonly label: string
  readonly detail: string
  readonly ts: string
  /** User messages up to and with this place. */
  readonly turn: number
  /** Null: not known. */
  readonly files: ReadonlyArray<string> | null
  readonly restorable: 'full' | 'partial' | 'none' | null
}

/** What names a checkpoint on a given branch. */
export type CheckpointRef = Pick<Checkpoint, 'record_index' | 'kind' | 'tool_call_id'>

/** What checkpoints need to know beside the branch itself. */
export interface CheckpointContext {
  readonly conversation: string
  /** The chat id of a head: a checkpoint belongs to the branch that made its message. */
  readonly chatOfHead: (head: string) => string
  /** When the conversation began: the time of a start that has no message. */
  readonly createdAt: string
  /** The workspace whose files could be restored; null: not asked. */
  readonly ws: string | null
}

/** Index of the system record, and so of the start. */
export const START_INDEX = 1
const DETAIL_LENGTH = 96

/**
 * All checkpoints of a branch, oldest first: the start, then for each message its own and those of its calls. The items of a
 * long branch may come one by one, so that their texts need not be kept.
 */
export function checkpointsOf(items: Iterable<ChainItem>, context: CheckpointContext): Checkpoint[] {
  const checkpoints: Checkpoint[] = []
  let turn = 0
  for (const item of items) {
    if (checkpoints.length === 0) checkpoints.push(startOf(item, context))
    if (item.message.role === 'user') turn++
    for (const place of placesOf(item.message)) checkpoints.push(checkpointAt(item, place, turn, context))
  }
  return checkpoints.length === 0 ? [startOf(undefined, context)] : checkpoints
}

/** The checkpoint at a reference, or null when the branch has none there. */
export function tryFindCheckpoint(
  items: ReadonlyArray<ChainItem>,
  ref: CheckpointRef,
  context: CheckpointContext,
): Checkpoint | null {
  if (ref.kind === 'start') return ref.record_index === START_INDEX ? startOf(items[0], context) : null
  const position = positionOf(items, ref.record_index)
  const item = items[position]
  if (item === undefined) return null
  const place = placesOf(item.message).find(
    (each) => each.kind === ref.kind && each.call === ref.tool_call_id,
  )
  if (place === undefined) return null
  const turn = items.slice(0, position + 1).filter(({ message }) => message.role === 'user').length
  return checkpointAt(item, place, turn, context)
}

/** Where the record of an index stands in the chain, or -1. */
export function positionOf(items: ReadonlyArray<ChainItem>, recordIndex: number): number {
  const first = items[0]
  if (first === undefined) return -1
  // Indices have no gaps, so this is the place.
  const position = recordIndex - first.index
  return items[position]?.index === recordIndex ? position : -1
}

/** The id of a checkpoint; the call's id, which may hold anything, comes last. */
export function stringifyCheckpointId(
  chatId: string,
  { record_index, kind, tool_call_id }: CheckpointRef,
): string {
  // Joined, not added up: a list of a hundred thousand ids would be held in as many trees of pieces.
  return (
    tool_call_id === null ? [chatId, record_index, kind] : [chatId, record_index, kind, tool_call_id]
  ).join(':')
}

interface Place {
  readonly kind: CheckpointKind
  readonly call: string | null
  readonly label: string
  readonly detail: string
}

function startOf(first: ChainItem | undefined, context: CheckpointContext): Checkpoint {
  const hasSystem = first?.message.role === 'system'
  const chat_id = context.chatOfHead(first?.head ?? 'main')
  const ref: CheckpointRef = { record_index: START_INDEX, kind: 'start', tool_call_id: null }
  return {
    id: stringifyCheckpointId(chat_id, ref),
    chat_id,
    conversation: context.conversation,
    record_index: START_INDEX,
    message_id: hasSystem ? first.id : null,
    tool_call_id: null,
    kind: 'start',
    label: 'start',
    detail: '',
    ts: (hasSystem ? first.message.ts : '') || context.createdAt,
    turn: 0,
    files: null,
    restorable: hasSystem ? restorableAt(first, context) : 'none',
  }
}

function checkpointAt(item: ChainItem, place: Place, turn: number, context: CheckpointContext): Checkpoint {
  const chat_id = context.chatOfHead(item.head)
  const { kind, call, label, detail } = place
  const ref: CheckpointRef = { record_index: item.index, kind, tool_call_id: call }
  return {
    id: stringifyCheckpointId(chat_id, ref),
    chat_id,
    conversation: context.conversation,
    record_index: item.index,
    message_id: item.id,
    tool_call_id: call,
    kind,
    label,
    detail,
    ts: item.message.ts,
    turn,
    files: null,
    restorable: restorableAt(item, context),
  }
}

function restorableAt({ fs, ws }: ChainItem, context: CheckpointContext): 'none' | null {
  return fs === null || ws === null || (context.ws !== null && ws !== context.ws) ? 'none' : null
}

function placesOf(message: Message): ReadonlyArray<Place> {
  const { role, content } = message
  switch (role) {
    case 'system':
      return []
    case 'user':
      return [{ kind: 'user', call: null, label: 'user', detail: firstLine(content) }]
    case 'assistant': {
      const detail = firstLine(content) || firstLine(message.reasoning_content ?? '')
      const places: Place[] = [{ kind: 'assistant', call: null, label: 'assistant', detail }]
      for (const call of message.tool_calls ?? []) {
        // An id that is repeated in one message names its first call.
        if (places.some((place) => place.call === call.id)) continue
        places.push({
          kind: 'tool_call',
          call: call.id,
          label: `tool call ${call.name}`,
          detail: detailOfCall(call),
        })
      }
      return places
    }
    case 'tool': {
      const label = `tool ${message.name ?? ''} ${message.ok === false ? '✗' : '✓'}`
      return [{ kind: 'tool_result', call: message.tool_call_id ?? '', label, detail: firstLine(content) }]
    }
  }
}

/** Calls often carry a whole file; the key that matters comes first then, and the rest need not be parsed. */
const LEADING_KEY = /^\s*\{\s*"(path|command)"\s*:\s*("(?:[^"\\]|\\.)*")/

function detailOfCall({ arguments: text }: ToolCall): string {
  const [, key, quoted] = LEADING_KEY.exec(text) ?? []
  const value = quoted === undefined ? tryParseJson(text) : { [key ?? '']: tryParseJson(quoted) }
  if (typeof value !== 'object' || value === null) return firstLine(text)
  if ('path' in value && typeof value.path === 'string') return firstLine(`file: ${value.path}`)
  if ('command' in value && typeof value.command === 'string') return firstLine(value.command)
  return firstLine(text)
}

/** The first line that is not blank, at most 96 characters of it. */
function firstLine(text: string): string {
  const start = text.search(/\S/)
  if (start === -1) return ''
  const piece = text.slice(start, start + 2 * DETAIL_LENGTH)
  const end = piece.search(/[\r\n]/)
  const line = end === -1 ? piece : piece.slice(0, end)
  const cut = line.slice(0, DETAIL_LENGTH)
  // A character of two units counts as one, and is never cut in two.
  const hasPairs = line.length > DETAIL_LENGTH && /[\ud800-\udbff]/.test(cut)
  return copyOf((hasPairs ? Array.from(line).slice(0, DETAIL_LENGTH).join('') : cut).trimEnd())
}

/** The same text without the one that it was cut from, which the engine would keep alive as long as its piece. */
function copyOf(text: string): string {
  return ` ${text}`.slice(1)
}
