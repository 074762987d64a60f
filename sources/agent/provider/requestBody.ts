import type { RequestMessage } from '../../conversation/request.ts'
import { assertNever } from '../../errors.ts'
import type { ModelRequest } from '../model.ts'

// Names that mean something else in an assistant message; a damaged log must not be able to replace them.
const reservedFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'tool_calls',
  'name',
  'refusal',
  '__proto__',
  '',
])

/** What the body depends on beside the request. */
export interface BodyOptions {
  readonly stream: boolean
  readonly supportsTools: boolean
  /** False for a server that refused `stream_options`. */
  readonly withUsage: boolean
}

/** Makes the JSON body of a chat completions request. Pure. */
export function makeRequestBody(
  request: ModelRequest,
  { stream, supportsTools, withUsage }: BodyOptions,
): Readonly<Record<string, unknown>> {
  return {
    model: request.model,
    messages: request.messages.map(makeMessage),
    ...(supportsTools && request.tools.length > 0 ? { tools: request.tools.map(makeTool) } : {}),
    ...makeReasoning(request.reasoning),
    stream,
    ...(stream && withUsage ? { stream_options: { include_usage: true } } : {}),
  }
}

function makeReasoning(reasoning: ModelRequest['reasoning']): Readonly<Record<string, unknown>> {
  if (reasoning === null) return {}
  switch (reasoning.format) {
    case 'reasoning_effort':
      return { reasoning_effort: reasoning.effort }
    case 'reasoning_object':
      return { reasoning: { effort: reasoning.effort } }
    default:
      return assertNever(reasoning.format)
  }
}

function makeTool({ name, description, parameters }: ModelRequest['tools'][number]) {
  return { type: 'function', function: { name, description, parameters } }
}

function makeMessage(message: RequestMessage): Readonly<Record<string, unknown>> {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content }
    case 'tool':
      return { role: 'tool', tool_call_id: message.tool_call_id, content: message.content }
    case 'assistant':
      return makeAssistantMessage(message)
    default:
      return assertNever(message)
  }
}

function makeAssistantMessage(message: Extract<RequestMessage, { role: 'assistant' }>) {
  const calls = message.tool_calls ?? []
  const { reasoning } = message
  const hasReasoning = reasoning !== undefined && reasoning.text.trim() !== ''
  return {
    role: 'assistant',
    content: calls.length > 0 && message.content === '' ? null : message.content,
    ...(hasReasoning && !reservedFields.has(reasoning.field) ? { [reasoning.field]: reasoning.text } : {}),
    ...(calls.length > 0
      ? {
          tool_calls: calls.map(({ id, name, arguments: text }) => ({
            id,
            type: 'function',
            function: { name, arguments: text },
          })),
        }
      : {}),
  }
}
