import type { Message, ToolCall } from '../conversation/message.ts'
import type { ReadCoverage } from './readSections.ts'
import { supersedeReads } from './readSections.ts'
import { shortenResult, shortenText } from './shorten.ts'
import { estimateMessage } from './tokens.ts'

/** How short a tool result is shown, in characters; the first step is the configured limit. */
export const RESULT_STEPS = [Number.POSITIVE_INFINITY, 12_000, 4_800, 1_200, 320] as const

/** The label that a notice gets when it is sent. */
const LABEL_TOKENS = 24

/** One message of the window, as it will be shown. Only this module and `window.ts` change it, so that the totals stay true. */
export interface Part {
  readonly message: Message
  /** The call that a tool result answers. */
  readonly call: ToolCall | null
  /** Later reads that cover sections of this result. */
  later: ReadonlyArray<ReadCoverage>
  /** Index into RESULT_STEPS; for other messages how often the text was halved. */
  step: number
  /** Only the text and the names of calls are left: no reasoning, no arguments. */
  bare: boolean
  /** False once it was dropped. */
  isShown: boolean
  shown: string
  tokens: number
}

export function makePart(message: Message, call: ToolCall | null, limit: number): Part {
  const part: Part = { message, call, later: [], step: 0, bare: false, isShown: false, shown: '', tokens: 0 }
  refresh(part, limit)
  return part
}

/**
 * Sizes seen before, by message and by how it is shown. A turn builds a request for each of its steps, and counting
 * tokens is the slow part of it.
 */
const known = new WeakMap<Message, Map<string, { readonly shown: string; readonly tokens: number }>>()

/** Brings the shown text and its size up to date after `later`, `step` or `bare` changed. */
export function refresh(part: Part, limit: number): void {
  const sizes = known.get(part.message) ?? new Map()
  known.set(part.message, sizes)
  const key = part.later.length === 0 ? `${limit}:${part.step}:${part.bare}` : null
  const found = key === null ? undefined : sizes.get(key)
  const { shown, tokens } = found ?? measure(part, limit)
  if (key !== null) sizes.set(key, { shown, tokens })
  part.shown = shown
  part.tokens = tokens
}

function measure(part: Part, limit: number): { shown: string; tokens: number } {
  const shown = part.message.role === 'tool' ? shownResult(part, limit) : shownText(part)
  const calls = part.bare ? bareCalls(part.message) : part.message.tool_calls
  const tokens = estimateMessage({
    content: shown,
    reasoning: part.bare ? undefined : part.message.reasoning_content,
    ...(calls === undefined ? {} : { calls }),
  })
  return { shown, tokens: tokens + (part.message.notice === undefined ? 0 : LABEL_TOKENS) }
}

/** The message as it goes into the request. */
export function shownMessage({ message, shown, bare }: Part): Message {
  if (!bare) return shown === message.content ? message : { ...message, content: shown }
  const { reasoning_content: _reasoning, reasoning_field: _field, tool_calls: _calls, ...rest } = message
  const calls = bareCalls(message)
  return { ...rest, content: shown, ...(calls === undefined ? {} : { tool_calls: calls }) }
}

/** The text of a result: always made from the whole one, so that no notice is nested in another. */
function shownResult({ message, call, later, step }: Part, limit: number): string {
  const origin = { name: message.name ?? call?.name ?? 'unknown', arguments: call?.arguments ?? '' }
  const text = later.length === 0 ? message.content : supersedeReads(message.content, later)
  const limited = shortenResult(text, { target: limit, origin, reason: { type: 'limit', limit } })
  const target = RESULT_STEPS[step] ?? limit
  if (target >= limit) return limited
  const compacted = shortenResult(text, { target, origin, reason: { type: 'context' } })
  return compacted.length < limited.length ? compacted : limited
}

function shownText({ message, step }: Part): string {
  if (step === 0) return message.content
  const target = Math.floor(message.content.length / 2 ** step)
  const subject = message.role === 'user' ? 'message' : 'earlier answer'
  return shortenText(message.content, { target, subject })
}

function bareCalls(message: Message): ReadonlyArray<ToolCall> | undefined {
  return message.tool_calls?.map((call) => {
    const note = `${call.arguments.length} characters of arguments were left out to fit the model context`
    const short = JSON.stringify({ _omitted: note })
    return short.length < call.arguments.length ? { ...call, arguments: short } : call
  })
}
