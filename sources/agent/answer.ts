import { CassError } from '../errors.ts'
import { afterAbort } from './afterAbort.ts'
import type { TurnEvent } from './events.ts'
import { AbortedAnswer, type Completion, type Model, type ModelRequest, type PartialAnswer } from './model.ts'
import { ProviderError } from './provider/errors.ts'

/** How one question to the model ended. Whatever was streamed is in it. */
export type Answer =
  | { readonly type: 'complete'; readonly completion: Completion }
  | { readonly type: 'cancelled'; readonly partial: PartialAnswer }
  | { readonly type: 'failed'; readonly partial: PartialAnswer; readonly error: AnswerError }

export interface AnswerError {
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

/** How long a cancelled model may take to hand over what it knows, before the turn ends without that. */
const CANCEL_GRACE_MS = 250

/**
 * Asks the model once and passes on what it streams. Never rejects. On cancel it ends at once, also when the model
 * does not.
 */
export async function askModel({
  model,
  request,
  emit,
  signal,
}: {
  model: Model
  request: ModelRequest
  emit: (event: TurnEvent) => void
  signal: AbortSignal
}): Promise<Answer> {
  let text = ''
  let reasoning = ''
  let isOver = false
  const streamed = (): PartialAnswer => ({ text, reasoning, reasoning_field: null, usage: null })
  if (signal.aborted) return { type: 'cancelled', partial: streamed() }
  const asked = answerOf(
    // Called inside a promise, so that a model that throws at once is like one that rejects.
    async () =>
      model(request, {
        signal,
        emit: (event) => {
          // A piece that comes after the end would be shown, but not kept.
          if (isOver) return
          if (event.type === 'text') text += event.text
          if (event.type === 'reasoning') reasoning += event.text
          emit(eventOf(event))
        },
      }),
    signal,
    streamed,
  )
  const { promise: cancelled, stop } = afterAbort(signal, CANCEL_GRACE_MS)
  const answer = await Promise.race([asked, cancelled])
  isOver = true
  stop()
  return answer ?? { type: 'cancelled', partial: streamed() }
}

async function answerOf(
  ask: () => Promise<Completion>,
  signal: AbortSignal,
  streamed: () => PartialAnswer,
): Promise<Answer> {
  try {
    const completion = await ask()
    // What the user saw is what is kept, also from a model that forgets to hand its text over.
    return { type: 'complete', completion: { ...completion, text: completion.text || streamed().text } }
  } catch (error) {
    const partial = { ...partialOf(error), text: streamed().text, reasoning: streamed().reasoning }
    if (signal.aborted) return { type: 'cancelled', partial }
    return { type: 'failed', partial, error: describe(error) }
  }
}

function eventOf(event: { type: 'text' | 'reasoning' | 'status'; text: string }): TurnEvent {
  if (event.type === 'text') return { type: 'assistant_chunk', text: event.text }
  if (event.type === 'reasoning') return { type: 'reasoning_chunk', text: event.text }
  return { type: 'status', text: event.text }
}

function partialOf(error: unknown): Pick<PartialAnswer, 'reasoning_field' | 'usage'> {
  const partial = error instanceof AbortedAnswer || error instanceof ProviderError ? error.partial : null
  return { reasoning_field: partial?.reasoning_field ?? null, usage: partial?.usage ?? null }
}

function describe(error: unknown): AnswerError {
  if (error instanceof CassError) return { code: error.code, message: error.message, hint: error.hint }
  // The text of an unknown error may hold anything, a key in a URL too.
  const name = error instanceof Error ? error.name : typeof error
  return {
    code: 'provider_failed',
    message: `the model call failed unexpectedly (${name})`,
    hint: 'try again; if it keeps happening, report it with CASS_DEBUG=1',
  }
}
