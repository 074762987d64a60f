import type { Message, ToolCall } from './message.ts'

/**
 * What a request must keep together or leave out together. `assistant`: the model's message and exactly one result
 * for each of its calls, in call order. `user`: one message of the user. `notice`: one message of the program.
 */
export interface MessageGroup {
  readonly type: 'user' | 'notice' | 'assistant'
  readonly messages: ReadonlyArray<Message>
}

const NO_RESULT = 'No result of this call was recorded. It may have run in part.'

/**
 * Groups any list of messages. Left out are system messages, results that answer no call of the assistant message
 * directly before them, and assistant messages with neither text nor calls. A call without a result gets one.
 * Grouping the flattened groups again gives the same groups.
 */
export function groupMessages(messages: ReadonlyArray<Message>): ReadonlyArray<MessageGroup> {
  const groups: MessageGroup[] = []
  for (let at = 0; at < messages.length; ) {
    const message = messages[at]
    at++
    if (message === undefined || message.role === 'system' || message.role === 'tool') continue
    const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : []
    if (calls.length > 0) {
      const { results, end } = resultsBehind(messages, at)
      groups.push({ type: 'assistant', messages: [message, ...answersOf(message, calls, results)] })
      at = end
    } else if (message.notice !== undefined) {
      groups.push({ type: 'notice', messages: [message] })
    } else if (message.role === 'user') {
      groups.push({ type: 'user', messages: [message] })
    } else if (message.content.trim() !== '') {
      groups.push({ type: 'assistant', messages: [message] })
    }
  }
  return groups
}

function resultsBehind(
  messages: ReadonlyArray<Message>,
  start: number,
): { readonly results: ReadonlyArray<Message>; readonly end: number } {
  const results: Message[] = []
  let end = start
  for (; end < messages.length; end++) {
    const message = messages[end]
    if (message?.role === 'tool') results.push(message)
    else if (message?.role !== 'system') break
  }
  return { results, end }
}

function answersOf(
  assistant: Message,
  calls: ReadonlyArray<ToolCall>,
  results: ReadonlyArray<Message>,
): ReadonlyArray<Message> {
  return matchResults(calls, results).map((result, position) => {
    if (result !== null) return result
    const { id = '', name = '' } = calls[position] ?? {}
    const { ts } = assistant
    return { role: 'tool', content: NO_RESULT, tool_call_id: id, name, ok: false, notice: 'interrupted', ts }
  })
}

/**
 * The result of each call, null for one without. When an id is repeated, its first call has its first result, and
 * so on.
 */
export function matchResults<R extends { readonly tool_call_id?: string }>(
  calls: ReadonlyArray<ToolCall>,
  results: ReadonlyArray<R>,
): ReadonlyArray<R | null> {
  const waiting = new Map<string, R[]>()
  for (const result of results) {
    const id = result.tool_call_id ?? ''
    const queue = waiting.get(id)
    if (queue === undefined) waiting.set(id, [result])
    else queue.push(result)
  }
  return calls.map(({ id }) => waiting.get(id)?.shift() ?? null)
}
