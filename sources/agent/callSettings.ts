import type { Message, ToolCall } from '../conversation/message.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import type { TurnEvent } from './events.ts'

/** What may happen with a tool call. `destructive`: the question is about losing something; omitted: about access. */
export type Decision =
  | { readonly type: 'allow' }
  | { readonly type: 'ask'; readonly reason: string; readonly destructive?: boolean }
  | { readonly type: 'deny'; readonly reason: string }

/** A question to the user. */
export interface ApprovalRequest {
  readonly request_id: string
  readonly tool_call_id: string
  readonly name: string
  readonly arguments: unknown
  readonly reason: string
}

export interface Approval {
  readonly approved: boolean
  /** What the user said to it, for the model. */
  readonly reason?: string
  /** There was nobody to ask, so no user denied it. */
  readonly nobody?: boolean
}

/** What running tool calls takes. */
export interface CallSettings {
  /** The tools offered to the model. */
  readonly tools: ReadonlyArray<Tool>
  /** The policy. Asked once for each call, directly before it runs; a rejection denies the call with its message. */
  readonly decide: (call: {
    readonly id: string
    readonly name: string
    readonly input: Readonly<Record<string, unknown>>
  }) => Decision | Promise<Decision>
  /** Asks the user. May wait for ever: a cancel ends the waiting. A rejection counts as no. */
  readonly approve: (request: ApprovalRequest) => Promise<Approval>
  /** Stores a message; it is acknowledged once this resolves. A rejection ends the turn. */
  readonly record: (message: Message, facts: { readonly id: string }) => Promise<void>
  readonly newMessageId: () => string
  readonly newApprovalId: () => string
  /** The context of one call; `messageId` will be the id of its result. The loop adds its own signal and output. */
  readonly toolContextFor: (call: ToolCall, messageId: string) => Omit<ToolContext, 'signal' | 'onOutput'>
  /** Must not throw. */
  readonly emit: (event: TurnEvent) => void
  readonly signal: AbortSignal
  /** How long a cancelled tool that can change something may take to end. */
  readonly cancelGraceMs: number
  /** UTC, RFC 3339. */
  readonly now: () => string
}
