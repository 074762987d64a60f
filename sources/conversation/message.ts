import * as t from 'typanion'

/**
 * One message as the log stores it (`msgs[0]` of a message entry; docs/storage.md). Keys are those on disk.
 * `arguments` is the JSON text as the model sent it, also when it is not JSON.
 */
export interface Message {
  readonly role: Role
  readonly content: string
  readonly reasoning_content?: string
  /** Under which name the provider sent the reasoning; it goes back under the same. */
  readonly reasoning_field?: string
  readonly tool_calls?: ReadonlyArray<ToolCall>
  readonly tool_call_id?: string
  readonly name?: string
  readonly ok?: boolean
  /** Present when the program wrote this message, not the model and not the user. */
  readonly notice?: Notice
  readonly usage?: Usage
  /** UTC, RFC 3339. */
  readonly ts: string
}

export type Role = 'system' | 'user' | 'assistant' | 'tool'
export type Notice = 'cancelled' | 'interrupted' | 'provider_error' | 'not_run'

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** Tokens of one model call, or of a turn; null where the provider did not say. */
export interface Usage {
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly reasoning_tokens: number | null
  readonly cached_tokens: number | null
}

const isTokenCount = t.isNullable(t.isNumber())

/** Checks one stored message; unknown keys are allowed, since later versions and other programs may add some. */
export const isMessage = t.isPartial({
  role: t.isEnum(['system', 'user', 'assistant', 'tool']),
  content: t.isString(),
  reasoning_content: t.isOptional(t.isString()),
  reasoning_field: t.isOptional(t.isString()),
  tool_calls: t.isOptional(
    t.isArray(t.isPartial({ id: t.isString(), name: t.isString(), arguments: t.isString() })),
  ),
  tool_call_id: t.isOptional(t.isString()),
  name: t.isOptional(t.isString()),
  ok: t.isOptional(t.isBoolean()),
  notice: t.isOptional(t.isString()),
  usage: t.isOptional(
    t.isPartial({
      input_tokens: isTokenCount,
      output_tokens: isTokenCount,
      reasoning_tokens: isTokenCount,
      cached_tokens: isTokenCount,
    }),
  ),
  ts: t.isString(),
})

/**
 * One message on the path from the root of a conversation to a tip. `index` is its record index in the
 * branch's transcript (meta 0, system 1), which never changes since a branch only grows.
 */
export interface ChainItem {
  readonly id: string
  readonly index: number
  /** The head (branch) that made this message. */
  readonly head: string
  readonly parent: string | null
  readonly turn: string | null
  /** Size in bytes of the workspace's journal when the message was planned, and which workspace's. */
  readonly fs: number | null
  readonly ws: string | null
  /** True when its parent was lost and it was continued at the leaf its head had at that place. */
  readonly gap: boolean
  readonly message: Message
}
