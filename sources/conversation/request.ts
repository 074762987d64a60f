import { groupMessages } from './groups.ts'
import { isJsonObject, stringifyJson, tryParseJson, wellFormed } from './json.ts'
import type { Message } from './message.ts'
import { argumentsOfText } from './record.ts'

/**
 * A message as it goes to a provider. Built by `buildRequest`, so that a strict provider accepts it
 * (docs/storage.md, requests).
 */
export type RequestMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant'
      readonly content: string | null
      readonly reasoning?: { readonly field: string; readonly text: string }
      /** `arguments` is always the text of a JSON object. */
      readonly tool_calls?: ReadonlyArray<{
        readonly id: string
        readonly name: string
        readonly arguments: string
      }>
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

type AssistantMessage = Extract<RequestMessage, { role: 'assistant' }>
type RequestToolCall = NonNullable<AssistantMessage['tool_calls']>[number]

/** Under which names providers send reasoning; another stored name could overwrite a field of the message. */
const REASONING_FIELDS: ReadonlySet<string> = new Set([
  'reasoning_content',
  'reasoning',
  'thinking',
  'thought',
])
const MAX_TOOL_NAME = 64

const NOTES = {
  unanswered: '(No answer was given to these results.)',
  start: 'the beginning of this conversation is not shown',
  between: 'the model went on here without a message from the user',
  end: 'go on',
  provider_error: 'the provider failed here, so that no answer was received',
}

/**
 * The request for any list of messages, built so that a strict provider accepts it (docs/storage.md, requests).
 * System messages of the list are replaced by `system`. User and assistant always take turns, beginning with the
 * user; where the list does not, a short note stands in. So it is at the end: a provider answers a user message or
 * tool results, so that a list that ends with the model's own text (or holds nothing) gets a user message, marked
 * as the program's, that asks it to go on.
 */
export function buildRequest(system: string, messages: ReadonlyArray<Message>): RequestMessage[] {
  const request: RequestMessage[] = [{ role: 'system', content: wellFormed(system) }]
  let spoken: string[] = []
  const flush = () => {
    if (spoken.length === 0) return
    if (request.at(-1)?.role === 'tool') request.push({ role: 'assistant', content: NOTES.unanswered })
    request.push({ role: 'user', content: wellFormed(spoken.join('\n\n')) })
    spoken = []
  }
  for (const { type, messages: group } of groupMessages(messages)) {
    const [first, ...results] = group
    if (first === undefined) continue
    if (type !== 'assistant') {
      spoken.push(type === 'notice' ? labelNotice(first) : textOf(first, '(empty message)'))
      continue
    }
    if (spoken.length === 0 && request.length === 1) spoken.push(label(NOTES.start))
    if (spoken.length === 0 && request.at(-1)?.role === 'assistant') spoken.push(label(NOTES.between))
    flush()
    const calls = callsOf(first)
    request.push(assistantOf(first, calls))
    for (const [position, { id }] of calls.entries()) request.push(resultOf(id, results[position]))
    if (first.notice !== undefined) spoken.push(labelNotice(first))
  }
  const isAnswerable = spoken.length > 0 || request.at(-1)?.role === 'tool'
  if (!isAnswerable) spoken.push(label(NOTES.end))
  flush()
  return request
}

/** A notice as the model reads it: marked as the program's words, the text of a provider's error left out. */
function labelNotice({ notice, content }: Message): string {
  if (notice === 'provider_error') return label(NOTES.provider_error)
  return label(content.trim() === '' ? (notice ?? '') : content.trim())
}

function label(text: string): string {
  return `[note from cass, not from the user: ${text}]`
}

function textOf({ content }: Message, empty: string): string {
  return content.trim() === '' ? empty : content
}

function assistantOf(message: Message, calls: ReadonlyArray<RequestToolCall>): AssistantMessage {
  const { notice, content, reasoning_content = '', reasoning_field = '' } = message
  const isModels = notice === undefined
  const field = REASONING_FIELDS.has(reasoning_field) ? reasoning_field : 'reasoning_content'
  const hasReasoning = isModels && reasoning_content.trim() !== ''
  return {
    role: 'assistant',
    content: isModels && content.trim() !== '' ? wellFormed(content) : null,
    ...(hasReasoning ? { reasoning: { field, text: wellFormed(reasoning_content) } } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

/** The calls with ids that are there and differ, names in the letters of a function name, and JSON objects. */
function callsOf({ tool_calls = [] }: Message): ReadonlyArray<RequestToolCall> {
  const taken = new Set(tool_calls.map(({ id }) => id))
  const used = new Set<string>()
  return tool_calls.map((call, position) => {
    const wanted = wellFormed(call.id)
    let id = wanted
    for (let n = 2; id.trim() === '' || used.has(id) || (id !== wanted && taken.has(id)); n++) {
      id = wanted.trim() === '' ? `call_${position}${n === 2 ? '' : `_${n}`}` : `${wanted}_${n}`
    }
    used.add(id)
    return { id, name: toolNameOf(call.name), arguments: objectText(call.arguments) }
  })
}

function toolNameOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_TOOL_NAME) || 'unknown'
}

function objectText(text: string): string {
  const value = argumentsOfText(text)
  if (!isJsonObject(value)) return stringifyJson({ _raw: text })
  const isTextOfValue = text.trim() !== '' && tryParseJson(text) !== undefined && !('_raw' in value)
  // The model's own text keeps numbers that JavaScript cannot hold; escaped lone surrogates would be refused.
  return isTextOfValue && !/\\u[dD][89a-fA-F]/.test(text) ? wellFormed(text) : stringifyJson(value)
}

function resultOf(id: string, result: Message | undefined): RequestMessage {
  const text = result === undefined ? '' : textOf(result, '(no output)')
  const content = result?.notice === undefined ? text : label(text)
  return { role: 'tool', tool_call_id: id, content: wellFormed(content) }
}
