import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Context, contextBudget, makeContext } from '../../../sources/agent/context.ts'
import { estimateMessage } from '../../../sources/agent/tokens.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { objectionTo } from '../conversation/_strict.ts'
import {
  answer,
  anyBranch,
  contextOf,
  LIMITS,
  readStep,
  resultsOf,
  SMALL,
  SYSTEM,
  step,
  user,
} from './_branch.ts'

describe('contextBudget', () => {
  it.each([
    [262_144, 32_768, 224_134],
    [8_000, 4_096, 3_488],
    [null, null, 27_264],
    [100, 100, 1_436],
    [2_048, 1_000_000, 1_024],
  ])(
    'of a model with %s tokens, %s of them for the answer, is %s',
    (context_length, max_output_tokens, budget) => {
      expect(contextBudget({ ...LIMITS, context_length, max_output_tokens })).toBe(budget)
    },
  )
})

describe('a branch that has room', () => {
  it('is sent whole', () => {
    const messages = [user('hello'), ...readStep('c1', 'a.ts', 1, 3), answer('I see.'), user('go on')]
    const context = contextOf(messages)
    expect(context.omitted).toBe(false)
    expect(context.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(context.messages[0]).toEqual({ role: 'system', content: SYSTEM })
    expect(resultsOf(context)).toEqual([messages[2]!.content])
  })

  it('is sent without results that have no call', () => {
    const [, stray] = step('c1', 'ls', {}, 'nothing')
    expect(resultsOf(contextOf([stray!, user('hello')]))).toEqual([])
  })

  it('is sent without its system messages, which the given one replaces', () => {
    const stored: Message = { role: 'system', content: 'old', ts: '' }
    expect(JSON.stringify(contextOf([stored, user('hello')]).messages)).not.toContain('old')
  })

  it('counts the schemas of the tools', () => {
    const tool = { name: 'ls', description: 'x'.repeat(400), parameters: {} }
    const bare = contextOf([user('hello')])
    const limits = LIMITS
    const messages = [user('hello')]
    const full = makeContext({ system: SYSTEM, messages, nudge: null, tools: [tool, tool], limits, share: 1 })
    expect(full.tokens - bare.tokens).toBeGreaterThan(200)
  })
})

describe('the limit of one tool result', () => {
  it('is for the model only', () => {
    const messages = [user('run it'), ...step('c1', 'shell', { command: 'make' }, 'x'.repeat(30_000))]
    const before = JSON.stringify(messages)
    const [sent] = resultsOf(contextOf(messages, { tool_result_limit: 1_000 }))
    expect(sent).toContain('Cass truncated this tool output (originally 30000 characters)')
    expect(sent!.length).toBeLessThan(1_800)
    expect(JSON.stringify(messages)).toBe(before)
  })

  it('never makes a result longer', () => {
    const content = 'x'.repeat(1_001)
    const messages = [user('run it'), ...step('c1', 'shell', { command: 'make' }, content)]
    expect(resultsOf(contextOf(messages, { tool_result_limit: 1_000 }))).toEqual([content])
  })
})

describe('earlier reads', () => {
  const sent = (...steps: ReadonlyArray<Message>[]) => resultsOf(contextOf([user('look'), ...steps.flat()]))

  it('of the same lines are left out', () => {
    const [first, second] = sent(readStep('c1', 'a.ts', 1, 90), readStep('c2', 'a.ts', 1, 90))
    expect(first).toContain('Cass omitted this earlier read output: a.ts lines 1-90')
    expect(first).not.toContain('line 40')
    expect(second).toContain('line 40')
  })

  it('are left out after a later full read, also when the file has shrunk', () => {
    const [first] = sent(readStep('c1', 'a.ts', 1, 90), readStep('c2', 'a.ts', 1, 20))
    expect(first).toContain('Cass omitted this earlier read output')
  })

  it('stay when a later read shows other lines', () => {
    const [first] = sent(readStep('c1', 'a.ts', 1, 90, '1-90'), readStep('c2', 'a.ts', 50, 120, '50-120'))
    expect(first).toContain('line 40')
  })

  it('are left out when a later read is wider', () => {
    const [first] = sent(readStep('c1', 'a.ts', 10, 60, '10-60'), readStep('c2', 'a.ts', 1, 90, '1-90'))
    expect(first).toContain('Cass omitted this earlier read output: a.ts lines 10-60')
  })

  it('of several files lose only the sections that a later read shows', () => {
    const [, both] = readStep('c1', 'a.ts', 1, 50)
    const [call, second] = readStep('c1', 'b.ts', 1, 50)
    const two = [call!, { ...both!, content: both!.content + second!.content }]
    const [first] = sent(two, readStep('c2', 'b.ts', 1, 50))
    expect(first).toContain('--- a.ts lines 1-50 ---')
    expect(first).toContain('Cass omitted this earlier read output: b.ts lines 1-50')
    expect(first).not.toContain('--- b.ts')
  })

  it('stay when the later read was itself cut for the model', () => {
    const messages = [
      user('look'),
      ...readStep('c1', 'a.ts', 1, 90, '1-90'),
      ...readStep('c2', 'a.ts', 1, 900),
    ]
    const [first] = resultsOf(contextOf(messages, { tool_result_limit: 4_000 }))
    expect(first).toContain('line 40')
  })
})

describe('a branch that is too long', () => {
  it('has large tool results compacted before messages are dropped', () => {
    const messages = [
      user('look'),
      ...step('c1', 'shell', { command: 'make' }, 'word '.repeat(6_400)),
      answer('ok'),
      user('and?'),
    ]
    const context = contextOf(messages, SMALL)
    expect(resultsOf(context)[0]).toContain('Cass compacted this tool output')
    expect(context.omitted).toBe(false)
    expect(context.messages).toHaveLength(6)
    expect(context.tokens).toBeLessThanOrEqual(context.budget)
    expect(objectionTo(context.messages)).toBeNull()
  })

  it('loses its oldest steps, and never a result without its call', () => {
    const turns = Array.from({ length: 40 }, (_, n) => [
      user(`question ${n} ${'word '.repeat(80)}`),
      ...step(`c${n}`, 'grep', { query: 'x' }, 'hit '.repeat(100)),
      answer(`answer ${n}`),
    ])
    const context = contextOf([...turns.flat(), user('the last question')], SMALL)
    expect(context.omitted).toBe(true)
    expect(context.messages.at(-1)).toEqual({ role: 'user', content: 'the last question' })
    expect(JSON.stringify(context.messages)).not.toContain('question 0 ')
    expect(JSON.stringify(context.messages)).toContain('answer 39')
    expect(objectionTo(context.messages)).toBeNull()
  })

  it('says so in the system message, the only one', () => {
    const context = contextOf([user('a'), answer('b'), user('c'), answer('d'), user('e')], {
      message_limit: 2,
    })
    expect(context.messages.filter(({ role }) => role === 'system')).toHaveLength(1)
    expect(context.messages[0]!.content).toContain(`${SYSTEM}\n\n[Cass omitted earlier messages`)
  })

  it('keeps the user message of a turn of many steps', () => {
    const steps = Array.from({ length: 100 }, (_, n) => step(`c${n}`, 'ls', { path: `d${n}` }, `folder ${n}`))
    const context = contextOf([user('old'), answer('old'), user('the request'), ...steps.flat()])
    expect(context.messages[1]).toEqual({ role: 'user', content: 'the request' })
    expect(context.messages.length).toBeLessThanOrEqual(81)
    expect(resultsOf(context).at(-1)).toBe('folder 99')
    expect(objectionTo(context.messages)).toBeNull()
  })

  it('keeps the user message also when the turn is thousands of steps long', () => {
    const steps = Array.from({ length: 3_000 }, (_, n) =>
      step(`c${n}`, 'ls', { path: `d${n}` }, `folder ${n}`),
    )
    const context = contextOf([user('the request'), ...steps.flat()])
    expect(context.messages[1]).toEqual({ role: 'user', content: 'the request' })
    expect(context.omitted).toBe(true)
    expect(resultsOf(context).at(-1)).toBe('folder 2999')
  })

  it('has an oversized user message cut with a marker, not left out', () => {
    const context = contextOf([user(`Begin ${'word '.repeat(30_000)} end.`)], SMALL)
    const sent = context.messages.at(-1)!.content!
    expect(sent).toContain('Cass shortened this message (originally 150011 characters)')
    expect(sent).toContain('Begin word')
    expect(sent).toContain('end.')
    expect(context.tokens).toBeLessThanOrEqual(context.budget)
  })

  it('leaves its start alone while it grows, so that a provider can use its cache', () => {
    const messages: Message[] = [user('the request')]
    let previous = ''
    let changes = 0
    for (let n = 0; n < 300; n++) {
      messages.push(...step(`c${n}`, 'shell', { command: `cmd ${n}` }, `output ${n} ${'word '.repeat(200)}`))
      const prefix = JSON.stringify(contextOf(messages, { ...SMALL, message_limit: 1_000 }).messages)
      if (!prefix.startsWith(previous.slice(0, -1))) changes++
      previous = prefix
    }
    // A window that slides would change in each of the 300 requests.
    expect(changes).toBeLessThan(80)
  })

  it('believes what the provider reports of earlier requests', () => {
    const usage = (input_tokens: number) => ({
      input_tokens,
      output_tokens: 1,
      reasoning_tokens: null,
      cached_tokens: null,
    })
    const branch = (first: number, second: number) => [
      user('hello'),
      { ...answer('ok'), usage: usage(first) },
      user('word '.repeat(2_000)),
      { ...answer('ok'), usage: usage(second) },
      user('more'),
    ]
    const plain = contextOf(branch(0, 0)).tokens
    expect(contextOf(branch(50_000, 55_400)).tokens / plain).toBeGreaterThan(1.8)
    expect(contextOf(branch(50_000, 51_000)).tokens / plain).toBeCloseTo(0.7, 1)
    // Less than before says nothing: messages were left out in between.
    expect(contextOf(branch(50_000, 3_000)).tokens).toBe(plain)
  })

  it('asks for a smaller window when the provider found a request too long', () => {
    const messages = [
      user('look'),
      ...step('c1', 'shell', { command: 'x' }, 'word '.repeat(1_500)),
      user('and?'),
    ]
    const half = makeContext({ system: SYSTEM, messages, nudge: null, tools: [], limits: SMALL, share: 0.5 })
    expect(half.tokens).toBeLessThanOrEqual(half.budget)
    expect(half.budget).toBe(1_744)
  })
})

describe('any branch in any room', () => {
  const anyLimits = fc.record({
    context_length: fc.oneof(fc.integer({ min: 2_048, max: 12_000 }), fc.constant(200_000)),
    max_output_tokens: fc.constantFrom(null, 1_000, 8_000),
    message_limit: fc.integer({ min: 0, max: 90 }),
    tool_result_limit: fc.constantFrom(0, 180, 1_000, 24_000),
  })

  it('gives a request that a strict provider accepts, with the current user message, within the budget', () => {
    fc.assert(
      fc.property(anyBranch, anyLimits, (messages, limits) => {
        const context = contextOf(messages, limits)
        expect(objectionTo(context.messages)).toBeNull()
        expect(context.messages.findLast(({ role }) => role === 'user')!.content).toContain('and now this')
        expect(context.tokens).toBeLessThanOrEqual(context.budget)
        expect(countTokens(context)).toBeLessThanOrEqual(context.tokens)
        // The newest step of these branches has up to five messages, and always stays with the user's message.
        expect(ownMessages(context)).toBeLessThanOrEqual(Math.max(limits.message_limit, 6))
      }),
      { numRuns: 300 },
    )
  })

  it('gives the request in the middle of a turn, too', () => {
    fc.assert(
      fc.property(anyBranch, anyLimits, fc.nat(), (messages, limits, cut) => {
        const part = messages.slice(0, 1 + (cut % messages.length))
        const context = contextOf(part, limits)
        expect(objectionTo(context.messages)).toBeNull()
        const asked = part.findLast(({ role }) => role === 'user')!.content
        const text = context.messages.map(({ content }) => content).join('\n')
        expect(text.includes(asked) || text.includes('Cass shortened this message')).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('never shows a result longer than it is, and changes no message', () => {
    fc.assert(
      fc.property(anyBranch, anyLimits, (messages, limits) => {
        const before = JSON.stringify(messages)
        const sizes = new Map(messages.map((message) => [message.tool_call_id, message.content.length]))
        for (const message of contextOf(messages, limits).messages) {
          if (message.role !== 'tool') continue
          expect(message.content.length).toBeLessThanOrEqual(
            Math.max(12, sizes.get(message.tool_call_id) ?? 0),
          )
        }
        expect(JSON.stringify(messages)).toBe(before)
      }),
      { numRuns: 200 },
    )
  })
})

/** Without the notes that stand in where the alternation of roles would break. */
function ownMessages({ messages }: Context): number {
  return messages.slice(1).filter(({ content }) => !isNote(content)).length
}

/** The request counted anew, from what is really in it. */
function countTokens({ messages }: Context): number {
  const sizes = messages.map((message) => {
    if (isNote(message.content)) return 0
    const content = message.content ?? ''
    return message.role === 'assistant'
      ? estimateMessage({ content, calls: message.tool_calls ?? [] })
      : estimateMessage({ content })
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

function isNote(content: string | null): boolean {
  return /^(\[note from cass|\(No answer)/.test(content ?? '')
}
