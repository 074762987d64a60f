import { setTimeout as wait } from 'node:timers/promises'
import type { ToolCall } from '../conversation/message.ts'
import { planDemoAnswer } from './demoPlan.ts'
import { AbortedAnswer, type Model, type PartialAnswer } from './model.ts'

/** The id under which the demo model is named in chats and events. */
export const DEMO_MODEL_ID = 'demo'

const WORDS_PER_CHUNK = 4

/**
 * The model inside the program: no network, no key, and the same answer to the same request. It works on the sample
 * project with real tool calls, and says in every final answer that it is a demo. `pauseMs` is waited between the
 * pieces of an answer, so that a person can watch.
 */
export function makeDemoModel({ pauseMs }: { readonly pauseMs: number }): Model {
  return async (request, { signal, emit }) => {
    const { text, calls, turn, step } = planDemoAnswer(request)
    let streamed = ''
    const partial = (): PartialAnswer => ({
      text: streamed,
      reasoning: '',
      reasoning_field: null,
      usage: null,
    })
    for (const chunk of chunksOf(text)) {
      try {
        await wait(pauseMs, undefined, { signal })
      } catch {
        // The only error a wait has is its cancel.
        throw new AbortedAnswer(partial())
      }
      streamed += chunk
      emit({ type: 'text', text: chunk })
    }
    if (signal.aborted) throw new AbortedAnswer(partial())
    const tool_calls = calls.map(
      ({ name, input }, index): ToolCall => ({
        id: `demo_${turn}_${step}_${index}`,
        name,
        arguments: JSON.stringify(input),
      }),
    )
    return { ...partial(), tool_calls, finish: calls.length > 0 ? 'tool_calls' : 'stop' }
  }
}

function chunksOf(text: string): ReadonlyArray<string> {
  const words = text.match(/\S+\s*/g) ?? []
  const chunks: string[] = []
  for (let at = 0; at < words.length; at += WORDS_PER_CHUNK) {
    chunks.push(words.slice(at, at + WORDS_PER_CHUNK).join(''))
  }
  return chunks
}
