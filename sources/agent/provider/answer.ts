import type { Usage } from '../../conversation/message.ts'
import type { Completion, ModelEvent, PartialAnswer } from '../model.ts'
import { type Fields, readContent, readText, tryParseFields } from './fields.ts'
import { readReasoning } from './reasoning.ts'
import { ToolCallBuilder } from './toolCalls.ts'
import { tryParseUsage } from './usage.ts'

const cutByLength: ReadonlySet<string> = new Set(['length', 'max_tokens', 'model_length'])
const failed: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource'])

/** Nothing received yet. */
export const emptyAnswer: PartialAnswer = { text: '', reasoning: '', reasoning_field: null, usage: null }

/** Puts an answer together from the chunks of a stream, or from the one object of an unstreamed answer. */
export class AnswerBuilder {
  /** True as soon as one chunk was part of a completion at all. */
  hasChunks = false
  /** True when something was given to the user: from then on the request may not be repeated. */
  hasEmitted = false
  /** An error that the provider sent in place of a part of the answer; null when there was none. */
  error: unknown = null
  /** True when the provider's content filter ended the answer. */
  isFiltered = false
  #text = ''
  #reasoning = ''
  #reasoningField: string | null = null
  #usage: Usage | null = null
  #finish = ''
  readonly #calls = new ToolCallBuilder()

  /** Characters received: text, reasoning and arguments. */
  get size(): number {
    return this.#text.length + this.#reasoning.length + this.#calls.size
  }

  /** Takes one chunk and returns what of it is to be shown. */
  push(value: unknown): ReadonlyArray<ModelEvent> {
    const chunk = tryParseFields(value)
    if (chunk === null) return []
    this.#usage = tryParseUsage(chunk) ?? this.#usage
    const choices = chunk.choices
    if (!Array.isArray(choices)) {
      this.error ??= readErrorChunk(chunk)
      return []
    }
    this.hasChunks = true
    const choice = choices.map(tryParseFields).find((one) => one !== null && (one.index ?? 0) === 0)
    return choice === undefined || choice === null ? [] : this.#pushChoice(choice)
  }

  /** What was received so far. */
  partial(): PartialAnswer {
    return {
      text: this.#text,
      reasoning: this.#reasoning,
      reasoning_field: this.#reasoningField,
      usage: this.#usage,
    }
  }

  /** The same; null when nothing was received that is worth keeping. */
  partialOrNull(): PartialAnswer | null {
    return this.#text === '' && this.#reasoning === '' && this.#usage === null ? null : this.partial()
  }

  /**
   * The whole answer; null when it is not whole. `isEnded`: the provider said plainly that nothing follows,
   * by `[DONE]` or by sending one object.
   */
  finish({ isEnded, makeCallId }: { isEnded: boolean; makeCallId: () => string }): Completion | null {
    if (!this.hasChunks || this.error !== null) return null
    if (this.#finish === '' && !isEnded && !this.#calls.isComplete()) return null
    const calls = this.#calls.finish(makeCallId)
    if (this.isFiltered && this.#text === '' && calls.length === 0) return null
    const finish = cutByLength.has(this.#finish) ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'
    return { ...this.partial(), tool_calls: calls, finish }
  }

  #pushChoice(choice: Fields): ReadonlyArray<ModelEvent> {
    const events: Array<ModelEvent> = []
    const delta = tryParseFields(choice.delta) ?? tryParseFields(choice.message)
    if (delta !== null) {
      const reasoning = readReasoning(delta, this.#reasoningField)
      if (reasoning !== null) {
        this.#reasoningField ??= reasoning.field
        this.#reasoning += reasoning.text
        events.push({ type: 'reasoning', text: reasoning.text })
      }
      const text = readContent(delta.content) + readText(delta.refusal)
      this.#text += text
      if (text !== '') events.push({ type: 'text', text })
      this.#calls.push(delta.tool_calls)
    }
    if (events.length > 0) this.hasEmitted = true
    return [...events, ...this.#readFinish(choice)]
  }

  #readFinish(choice: Fields): ReadonlyArray<ModelEvent> {
    const reason = readText(choice.finish_reason)
    if (choice.error !== undefined && choice.error !== null) this.error ??= choice.error
    if (reason === '') return []
    this.#finish = reason
    if (failed.has(reason))
      this.error ??= { message: `the answer ended with '${reason}'`, type: 'server_error' }
    if (reason !== 'content_filter' || this.isFiltered) return []
    this.isFiltered = true
    return [{ type: 'status', text: "the provider's content filter ended the answer" }]
  }
}

/** An object that is no chunk: an error in one of its many shapes, or something to pass over. */
function readErrorChunk(chunk: Fields): unknown {
  if (chunk.error !== undefined && chunk.error !== null) return chunk.error
  const isError = chunk.type === 'error' || chunk.object === 'error'
  const says = readText(chunk.message) !== '' || readText(chunk.detail) !== ''
  return isError || says ? chunk : null
}
