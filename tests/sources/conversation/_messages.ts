import fc from 'fast-check'
import type { ChainItem, Message, Notice, ToolCall } from '../../../sources/conversation/message.ts'

export const TS = '2026-06-25T15:15:33.000Z'

export function user(content: string): Message {
  return { role: 'user', content, ts: TS }
}

export function assistant(content: string, ...calls: ToolCall[]): Message {
  return { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}), ts: TS }
}

export function call(id: string, args = '{}', name = 'read'): ToolCall {
  return { id, name, arguments: args }
}

export function result(id: string, content = 'done', ok = true): Message {
  return { role: 'tool', tool_call_id: id, name: 'read', ok, content, ts: TS }
}

export function notice(kind: Notice, content: string): Message {
  return { role: 'assistant', content, notice: kind, ts: TS }
}

/** A chain of messages on one head, each with its own place in the journal. */
export function chainOf(messages: ReadonlyArray<Message>, head = 'main'): ChainItem[] {
  const offset = messages[0]?.role === 'system' ? 1 : 2
  return messages.map((message, position) => ({
    id: `M${position}`,
    index: position + offset,
    head,
    parent: position === 0 ? null : `M${position - 1}`,
    turn: null,
    fs: position * 10,
    ws: 'workspace',
    gap: false,
    message,
  }))
}

/** Text of every kind: blank, long, with lone surrogates, NUL, quotes and line ends. */
export const anyText = fc.oneof(
  fc.constantFrom(
    '',
    ' \n',
    'text',
    '{"type":"user"}',
    '\ud800',
    'a\udc00b',
    '😀',
    '\u0000',
    '\\ud800',
    '\u2028',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

const anyId = fc.constantFrom('', ' ', 'a', 'b', 'call_0', 'a_2', 'x:y')
const anyArguments = fc.oneof(
  fc.constantFrom(
    '',
    '  ',
    '{}',
    '[]',
    'null',
    '7',
    '{"a":',
    '{"path":"x"}',
    '{"_raw":"x"}',
    '{"a":"\\ud800"}',
  ),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  anyText,
)
const anyCall: fc.Arbitrary<ToolCall> = fc.record({
  id: anyId,
  name: fc.constantFrom('read', '', 'a.b', 'x'.repeat(80)),
  arguments: anyArguments,
})
const anyNotice = fc.constantFrom<Notice>('cancelled', 'interrupted', 'provider_error', 'not_run')

/** Any message, most of them in places where no careful program would put them. */
export const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant('system' as const), content: anyText, ts: fc.constant(TS) }),
  fc.record(
    { role: fc.constant('user' as const), content: anyText, ts: fc.constant(TS), notice: anyNotice },
    { requiredKeys: ['role', 'content', 'ts'] },
  ),
  fc.record(
    {
      role: fc.constant('assistant' as const),
      content: anyText,
      ts: fc.constant(TS),
      notice: anyNotice,
      reasoning_content: anyText,
      reasoning_field: fc.constantFrom('reasoning', 'content', 'thinking'),
      tool_calls: fc.array(anyCall, { maxLength: 4 }),
    },
    { requiredKeys: ['role', 'content', 'ts'] },
  ),
  fc.record(
    {
      role: fc.constant('tool' as const),
      content: anyText,
      ts: fc.constant(TS),
      tool_call_id: anyId,
      name: fc.constant('read'),
      ok: fc.boolean(),
      notice: anyNotice,
    },
    { requiredKeys: ['role', 'content', 'ts', 'tool_call_id'] },
  ),
)

export const anyMessages = fc.array(anyMessage, { maxLength: 24 })
