import type { ToolCall, Usage } from '../conversation/message.ts'
import type { RequestMessage } from '../conversation/request.ts'

/** A tool as a model is told of it. `parameters` is a JSON schema object. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ModelRequest {
  readonly model: string
  readonly messages: ReadonlyArray<RequestMessage>
  readonly tools: ReadonlyArray<ToolSpec>
  /** Null: the model knows no reasoning effort, nothing is sent. Effort `none` switches reasoning off. */
  readonly reasoning: {
    readonly format: 'reasoning_effort' | 'reasoning_object'
    readonly effort: 'none' | 'low' | 'medium' | 'high'
  } | null
}

export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A sentence for the user: a retry, a wait that the provider asked for. */
  | { readonly type: 'status'; readonly text: string }

/** One finished answer of a model. `tool_calls` come in the order in which the model made them. */
export interface Completion {
  readonly text: string
  readonly reasoning: string
  readonly reasoning_field: string | null
  readonly tool_calls: ReadonlyArray<ToolCall>
  /** `length`: the answer was cut by the model's output limit. */
  readonly finish: 'stop' | 'tool_calls' | 'length'
  readonly usage: Usage | null
}

/**
 * Asks a model once. `emit` is called for each piece as it arrives and must not throw. Resolves with the whole
 * answer; rejects with a `ProviderError` (its `partial` holds what was received), or, when `signal` is aborted,
 * with an `AbortedAnswer`, which holds it too.
 */
export type Model = (
  request: ModelRequest,
  options: { readonly signal: AbortSignal; readonly emit: (event: ModelEvent) => void },
) => Promise<Completion>

/** What had been received when an answer ended early. */
export interface PartialAnswer {
  readonly text: string
  readonly reasoning: string
  readonly reasoning_field: string | null
  readonly usage: Usage | null
}

/** The signal given to a model was aborted before its answer was whole. */
export class AbortedAnswer extends Error {
  readonly partial: PartialAnswer

  constructor(partial: PartialAnswer) {
    super('the answer was cancelled')
    this.name = 'AbortedAnswer'
    this.partial = partial
  }
}
