import * as t from 'typanion'
import { isJsonObject, isTooDeep, stringifyJson, tryParseJson } from './json.ts'
import type { Message, Notice, ToolCall } from './message.ts'

/** Where a branch left the one it was made from, as the other program stores it. */
export interface BranchFrom {
  readonly chat_id: string
  readonly record_index: number
  readonly tool_call_id?: string
  readonly checkpoint_label: string
}

/** The first record of a transcript. `conversation` and `head` are ours: they lead back to the log. */
export interface MetaRecord {
  readonly type: 'meta'
  readonly chat_id: string
  readonly created_at: string
  readonly model: string
  readonly cwd: string
  readonly parent_chat_id?: string
  readonly branch_from?: BranchFrom
  readonly conversation?: string
  readonly head?: string
}

/** A call as a transcript stores it: `arguments` is a JSON value, `{"_raw": text}` when the text is no JSON. */
export interface RecordToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
}

/** A record that stands for a message. `notice` is ours; the other program ignores it. */
export type MessageRecord =
  | { readonly type: 'system'; readonly content: string }
  | { readonly type: 'user'; readonly content: string; readonly ts: string; readonly notice?: Notice }
  | {
      readonly type: 'assistant'
      readonly content: string
      readonly reasoning: string
      readonly reasoning_field?: string
      readonly tool_calls: ReadonlyArray<RecordToolCall>
      readonly ts: string
      readonly notice?: Notice
    }
  | {
      readonly type: 'tool'
      readonly tool_call_id: string
      readonly name: string
      readonly ok: boolean
      readonly content: string
      readonly ts: string
      readonly notice?: Notice
    }

/** One line of a transcript, keys in the order of the file. */
export type CassRecord = MetaRecord | MessageRecord

/** Checks where a branch comes from. */
export const isBranchFrom = t.isPartial({
  chat_id: t.isString(),
  record_index: t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(0)]),
  tool_call_id: t.isOptional(t.isNullable(t.isString())),
  checkpoint_label: t.isString(),
})

const optionalText = t.isOptional(t.isNullable(t.isString()))
const isRawMeta = t.isPartial({
  chat_id: t.isString(),
  created_at: t.isString(),
  model: t.isString(),
  cwd: t.isString(),
  parent_chat_id: optionalText,
  branch_from: t.isOptional(t.isNullable(isBranchFrom)),
  conversation: optionalText,
  head: optionalText,
})
const isRawRecord = t.isPartial({
  content: t.isString(),
  reasoning: optionalText,
  reasoning_field: optionalText,
  tool_calls: t.isOptional(t.isNullable(t.isArray(t.isPartial({ id: t.isString(), name: t.isString() })))),
  tool_call_id: optionalText,
  name: optionalText,
  ok: t.isOptional(t.isBoolean()),
  ts: optionalText,
  notice: optionalText,
})

/** The record of a line, or null when it is none. */
export function tryParseRecord(line: string): CassRecord | null {
  const value = tryParseJson(line)
  if (!isJsonObject(value)) return null
  return value.type === 'meta' ? metaOf(value) : messageRecordOf(value)
}

/** The line of a record, without its line end. */
export function stringifyRecord(record: CassRecord): string {
  return stringifyJson(record)
}

function metaOf(value: unknown): MetaRecord | null {
  if (!isRawMeta(value)) return null
  const { chat_id, created_at, model, cwd, parent_chat_id, branch_from, conversation, head } = value
  return {
    type: 'meta',
    chat_id,
    created_at,
    model,
    cwd,
    ...(parent_chat_id ? { parent_chat_id } : {}),
    ...(branch_from ? { branch_from: branchFromOf(branch_from) } : {}),
    ...(conversation ? { conversation } : {}),
    ...(head ? { head } : {}),
  }
}

/** A checked place of origin, with its keys in the order of the file. */
export function branchFromOf(value: t.InferType<typeof isBranchFrom>): BranchFrom {
  const { chat_id, record_index, tool_call_id, checkpoint_label } = value
  return { chat_id, record_index, ...(tool_call_id ? { tool_call_id } : {}), checkpoint_label }
}

function messageRecordOf(value: Readonly<Record<string, unknown>>): MessageRecord | null {
  if (!isRawRecord(value)) return null
  const { content, tool_call_id, name, ok } = value
  const ts = value.ts ?? ''
  const notice = value.notice ? { notice: value.notice as Notice } : {}
  switch (value.type) {
    case 'system':
      return { type: 'system', content }
    case 'user':
      return { type: 'user', content, ts, ...notice }
    case 'assistant':
      return {
        type: 'assistant',
        content,
        reasoning: value.reasoning ?? '',
        ...(value.reasoning_field ? { reasoning_field: value.reasoning_field } : {}),
        tool_calls: (value.tool_calls ?? []).map((call) => ({
          id: call.id,
          name: call.name,
          arguments: call.arguments === undefined ? {} : call.arguments,
        })),
        ts,
        ...notice,
      }
    case 'tool':
      if (typeof tool_call_id !== 'string' || typeof name !== 'string' || ok === undefined) return null
      return { type: 'tool', tool_call_id, name, ok, content, ts, ...notice }
    default:
      return null
  }
}

/** The record of a message. */
export function recordOfMessage(message: Message): MessageRecord {
  const { role, content, ts } = message
  const notice = message.notice === undefined ? {} : { notice: message.notice }
  switch (role) {
    case 'system':
      return { type: 'system', content }
    case 'user':
      return { type: 'user', content, ts, ...notice }
    case 'assistant':
      return {
        type: 'assistant',
        content,
        reasoning: message.reasoning_content ?? '',
        ...(message.reasoning_field ? { reasoning_field: message.reasoning_field } : {}),
        tool_calls: (message.tool_calls ?? []).map(({ id, name, arguments: text }) => ({
          id,
          name,
          arguments: argumentsOfText(text),
        })),
        ts,
        ...notice,
      }
    case 'tool':
      return {
        type: 'tool',
        tool_call_id: message.tool_call_id ?? '',
        name: message.name ?? '',
        ok: message.ok ?? true,
        content,
        ts,
        ...notice,
      }
  }
}

/** The message of a record; `systemTs` is the time of a system record, which stores none. */
export function messageOfRecord(record: MessageRecord, systemTs: string): Message {
  const { content } = record
  if (record.type === 'system') return { role: 'system', content, ts: systemTs }
  const rest = { ts: record.ts, ...(record.notice === undefined ? {} : { notice: record.notice }) }
  switch (record.type) {
    case 'user':
      return { role: 'user', content, ...rest }
    case 'assistant':
      return {
        role: 'assistant',
        content,
        ...(record.reasoning === '' ? {} : { reasoning_content: record.reasoning }),
        ...(record.reasoning_field === undefined ? {} : { reasoning_field: record.reasoning_field }),
        ...(record.tool_calls.length === 0 ? {} : { tool_calls: record.tool_calls.map(callOfRecord) }),
        ...rest,
      }
    case 'tool':
      return {
        role: 'tool',
        content,
        tool_call_id: record.tool_call_id,
        name: record.name,
        ok: record.ok,
        ...rest,
      }
  }
}

function callOfRecord({ id, name, arguments: value }: RecordToolCall): ToolCall {
  return { id, name, arguments: textOfArguments(value) }
}

/** The JSON value of arguments as the model sent them: `{}` for nothing, `{"_raw": text}` for what is no JSON. */
export function argumentsOfText(text: string): unknown {
  if (text.trim() === '') return {}
  const value = tryParseJson(text)
  return value === undefined || isTooDeep(value) ? { _raw: text } : value
}

/** The reverse of `argumentsOfText`. */
function textOfArguments(value: unknown): string {
  if (isJsonObject(value) && typeof value._raw === 'string' && Object.keys(value).length === 1) {
    const isRaw = tryParseJson(value._raw) === undefined
    if (isRaw) return value._raw
  }
  return stringifyJson(value)
}
