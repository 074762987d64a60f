import type { Usage } from '../conversation/message.ts'

/** Why a turn ended. */
export type StopReason = 'stop' | 'length' | 'cancelled' | 'step_limit' | 'error'

/**
 * What happens in a turn, as it happens. This union is the output of `cass run --json`, one event a line, and a
 * promise to scripts: keys may be added, none changes (docs/plumbing.md).
 */
export type TurnEvent =
  | {
      readonly type: 'session_started'
      readonly chat_id: string
      readonly conversation: string
      readonly model: string
      readonly access_mode: string
      /** The id of the user message: from here on it is acknowledged. */
      readonly message_id: string
      /** Paths of the project instruction files that the model was given. */
      readonly instructions: ReadonlyArray<string>
    }
  | { readonly type: 'assistant_chunk'; readonly text: string }
  | { readonly type: 'reasoning_chunk'; readonly text: string }
  | {
      readonly type: 'tool_call_started'
      readonly id: string
      readonly name: string
      /** The parsed arguments, or `{"_raw": text}` when they are no JSON object. */
      readonly arguments: unknown
    }
  | {
      readonly type: 'tool_output_chunk'
      readonly id: string
      readonly name: string
      readonly stream: 'stdout' | 'stderr'
      readonly content: string
    }
  | {
      readonly type: 'tool_result'
      readonly id: string
      readonly name: string
      readonly ok: boolean
      readonly content: string
      readonly message_id: string
    }
  | {
      readonly type: 'file_changed'
      readonly path: string
      readonly tool_call_id: string
      readonly added: number
      readonly removed: number
    }
  | {
      readonly type: 'approval_requested'
      readonly request_id: string
      readonly tool_call_id: string
      readonly name: string
      readonly arguments: unknown
      readonly reason: string
    }
  | { readonly type: 'approval_resolved'; readonly request_id: string; readonly approved: boolean }
  | { readonly type: 'status'; readonly text: string }
  | { readonly type: 'notice'; readonly code: string; readonly text: string; readonly chat_id: string | null }
  | { readonly type: 'error'; readonly code: string; readonly message: string; readonly hint: string | null }
  | {
      readonly type: 'turn_finished'
      readonly chat_id: string
      readonly records: number
      readonly stop_reason: StopReason
      readonly usage: Usage
    }
