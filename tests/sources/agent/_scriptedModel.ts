import {
  AbortedAnswer,
  type Completion,
  type Model,
  type ModelRequest,
  type PartialAnswer,
} from '../../../sources/agent/model.ts'
import { ProviderError } from '../../../sources/agent/provider/errors.ts'
import type { ToolCall, Usage } from '../../../sources/conversation/message.ts'

/** One answer of a scripted model. Text and reasoning are streamed in two pieces each. */
export interface Answer {
  readonly text?: string
  readonly reasoning?: string
  readonly reasoning_field?: string
  readonly calls?: ReadonlyArray<ToolCall>
  readonly finish?: Completion['finish']
  readonly usage?: Usage
  /** Instead of an end: an error, waiting for a cancel, or waiting for ever. */
  readonly end?: { readonly error: Error } | 'hang' | 'deaf'
}

export interface ScriptedModel {
  readonly model: Model
  readonly requests: ReadonlyArray<ModelRequest>
}

/** A model that gives one answer after another, the last one again and again. `pause` is awaited between pieces. */
export function scriptModel(
  answers: ReadonlyArray<Answer>,
  { pause = async () => {} }: { pause?: () => Promise<void> } = {},
): ScriptedModel {
  const requests: ModelRequest[] = []
  const model: Model = async (request, { signal, emit }) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)]!
    requests.push(request)
    const got = { text: '', reasoning: '' }
    const partial = (): PartialAnswer => ({
      ...got,
      reasoning_field:
        answer.reasoning === undefined ? null : (answer.reasoning_field ?? 'reasoning_content'),
      usage: null,
    })
    for (const type of ['reasoning', 'text'] as const) {
      for (const piece of halves(answer[type] ?? '')) {
        await pause()
        if (signal.aborted) throw new AbortedAnswer(partial())
        got[type] += piece
        emit({ type, text: piece })
      }
    }
    await pause()
    if (signal.aborted) throw new AbortedAnswer(partial())
    if (answer.end === 'deaf') return new Promise<never>(() => {})
    if (answer.end === 'hang') {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      throw new AbortedAnswer(partial())
    }
    if (answer.end !== undefined) throw answer.end.error
    const { calls = [], usage = null, finish = calls.length > 0 ? 'tool_calls' : 'stop' } = answer
    return { ...partial(), tool_calls: calls, finish, usage }
  }
  return { model, requests }
}

function halves(text: string): ReadonlyArray<string> {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '')
}

export function makeCall(id: string, name: string, input: unknown): ToolCall {
  return { id, name, arguments: typeof input === 'string' ? input : JSON.stringify(input) }
}

export function providerError(code: 'provider_unavailable' | 'provider_context_too_long'): ProviderError {
  return new ProviderError(code, "provider 'example.test' answered 503", {
    hint: 'try again later',
    data: {},
    partial: null,
  })
}
