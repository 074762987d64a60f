import fc from 'fast-check'
import type { ContextBudget } from '../../../sources/agent/context.ts'
import { type Context, makeContext } from '../../../sources/agent/context.ts'
import type { Message } from '../../../sources/conversation/message.ts'

const TS = '2030-01-02T03:04:05.000Z'
export const SYSTEM = 'You are a test.'

export const LIMITS: ContextBudget = {
  context_length: 200_000,
  max_output_tokens: 4_096,
  message_limit: 80,
  tool_result_limit: 24_000,
}

/** Room for 3,488 tokens, the smallest model that the facts test. */
export const SMALL: ContextBudget = { ...LIMITS, context_length: 8_000 }

export function contextOf(messages: ReadonlyArray<Message>, limits: Partial<ContextBudget> = {}): Context {
  const budget = { ...LIMITS, ...limits }
  return makeContext({ system: SYSTEM, messages, nudge: null, tools: [], limits: budget, share: 1 })
}

export function user(content: string): Message {
  return { role: 'user', content, ts: TS }
}

export function answer(content: string): Message {
  return { role: 'assistant', content, ts: TS }
}

/** One step of the model: a call and its result. */
export function step(id: string, name: string, input: unknown, content: string): ReadonlyArray<Message> {
  return [
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id, name, arguments: JSON.stringify(input) }],
      ts: TS,
    },
    { role: 'tool', tool_call_id: id, name, ok: true, content, ts: TS },
  ]
}

/** A section of a read result with lines `start` to `end`. */
export function section(path: string, start: number, end: number): string {
  const lines = []
  for (let line = start; line <= end; line++)
    lines.push(`${String(line).padStart(6)} | line ${line} of the file`)
  return [`--- ${path} lines ${start}-${end} ---`, ...lines, ''].join('\n')
}

export function readStep(
  id: string,
  path: string,
  start: number,
  end: number,
  lines?: string,
): ReadonlyArray<Message> {
  const file = lines === undefined ? { path } : { path, lines }
  return step(id, 'read', { files: [file] }, section(path, start, end))
}

export function resultsOf({ messages }: Context): ReadonlyArray<string> {
  return messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []))
}

/** Steps and answers of every size and shape, as a careful program records them. */
export const anyBranch: fc.Arbitrary<ReadonlyArray<Message>> = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ type: fc.constant('user' as const), size: anySize() }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('answer' as const), size: anySize() }) },
      {
        weight: 5,
        arbitrary: fc.record({
          type: fc.constant('step' as const),
          name: fc.constantFrom('read', 'shell', 'grep', 'write'),
          sizes: fc.array(anySize(), { minLength: 1, maxLength: 4 }),
          args: fc.integer({ min: 0, max: 3_000 }),
          path: fc.constantFrom('a.ts', 'b.ts'),
        }),
      },
    ),
    { maxLength: 30 },
  )
  .map((parts) => [user('start'), ...parts.flatMap(messagesOf), user('and now this')])

function anySize(): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 30_000 }))
}

type Piece =
  | { type: 'user' | 'answer'; size: number }
  | { type: 'step'; name: string; sizes: number[]; args: number; path: string }

function messagesOf(part: Piece, index: number): ReadonlyArray<Message> {
  if (part.type !== 'step') return [part.type === 'user' ? user(words(part.size)) : answer(words(part.size))]
  const calls = part.sizes.map((_, n) => ({
    id: `c${index}_${n}`,
    name: part.name,
    arguments: JSON.stringify({ files: [{ path: part.path }], content: words(part.args) }),
  }))
  const results = part.sizes.map((size, n): Message => {
    const content = part.name === 'read' ? section(part.path, 1, Math.ceil(size / 30)) : words(size)
    return { role: 'tool', tool_call_id: `c${index}_${n}`, name: part.name, ok: true, content, ts: TS }
  })
  return [{ role: 'assistant', content: words(part.args % 100), tool_calls: calls, ts: TS }, ...results]
}

function words(size: number): string {
  return 'the quick brown fox jumps over 13 lazy dogs; '.repeat(Math.ceil(size / 45)).slice(0, size)
}
