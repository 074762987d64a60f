import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TurnInput } from '../../../sources/agent/loop.ts'
import { buildRequest } from '../../../sources/conversation/request.ts'
import { objectionTo } from '../conversation/_strict.ts'
import { type Answer, makeCall } from './_scriptedModel.ts'
import { makeTool, NOW, neverApprove, runScript, type TurnRun, userMessage } from './_turn.ts'

const CANCELLED = { role: 'assistant', content: 'Turn cancelled by user.', notice: 'cancelled', ts: NOW }

function expectComplete({ recorded, events, result }: TurnRun): void {
  const request = buildRequest('x', [userMessage('do it'), ...recorded, userMessage('go on')])
  expect(objectionTo(request)).toBeNull()
  const streamed = events.map((event) => (event.type === 'assistant_chunk' ? event.text : '')).join('')
  const kept = recorded.filter(({ role, notice }) => role === 'assistant' && notice === undefined)
  expect(kept.map(({ content }) => content).join('')).toBe(streamed)
  const results = recorded.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id)
  expect(results).toEqual(recorded.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)))
  expect(events.filter(({ type }) => type === 'tool_result')).toHaveLength(results.length)
  const asked = events.filter(({ type }) => type === 'approval_requested')
  expect(events.filter(({ type }) => type === 'approval_resolved')).toHaveLength(asked.length)
  if (result.stop_reason === 'cancelled') expect(recorded.at(-1)).toMatchObject(CANCELLED)
}

/** Runs a turn that is cancelled when an event of one type comes. */
function cancelAt(
  type: string,
  answers: ReadonlyArray<Answer>,
  changes: Partial<TurnInput> = {},
): Promise<TurnRun> {
  const controller = new AbortController()
  return runScript(answers, {
    ...changes,
    signal: controller.signal,
    emit: (event) => {
      if (event.type === type) controller.abort()
    },
  })
}

describe('a cancel', () => {
  it('before the first question ends the turn with a notice alone', async () => {
    const run = await runScript([{ text: 'never' }], { signal: AbortSignal.abort() })
    expect(run.requests).toHaveLength(0)
    expect(run.result).toMatchObject({ stop_reason: 'cancelled', text: '' })
    expectComplete(run)
  })

  it('while the answer streams keeps what was streamed', async () => {
    const run = await cancelAt('assistant_chunk', [{ reasoning: 'I think', text: 'Half and half' }])
    expect(run.recorded[0]).toMatchObject({ content: 'Half an', reasoning_content: 'I think' })
    expect(run.result).toMatchObject({ stop_reason: 'cancelled', text: 'Half an' })
    expectComplete(run)
  })

  it.each(['hang', 'deaf'] as const)('ends the wait for a model that is silent (%s)', async (end) => {
    const controller = new AbortController()
    const running = runScript([{ text: 'Half', end }], {
      signal: controller.signal,
      emit: () => setImmediate(() => controller.abort()),
    })
    const run = await running
    expect(run.recorded[0]).toMatchObject({ content: 'Half' })
    expectComplete(run)
  })

  it('while a question to the user is open answers it with no', async () => {
    const calls = [makeCall('c1', 'shell', {}), makeCall('c2', 'shell', {})]
    const run = await cancelAt('approval_requested', [{ text: 'I run it.', calls }], {
      tools: [makeTool('shell', () => expect.unreachable())],
      decide: () => ({ type: 'ask', reason: 'runs', destructive: false }),
      approve: neverApprove,
    })
    expect(run.events).toContainEqual({
      type: 'approval_resolved',
      request_id: 'approval_1',
      approved: false,
    })
    expect(run.recorded.slice(1, 3)).toEqual([
      expect.objectContaining({
        ok: false,
        notice: 'cancelled',
        content: 'Tool execution cancelled by user.',
      }),
      expect.objectContaining({ ok: false, notice: 'cancelled', tool_call_id: 'c2' }),
    ])
    expectComplete(run)
  })

  it('together with a yes runs nothing', async () => {
    const controller = new AbortController()
    const run = await runScript([{ calls: [makeCall('c1', 'shell', {})] }], {
      signal: controller.signal,
      tools: [makeTool('shell', () => expect.unreachable())],
      decide: () => ({ type: 'ask', reason: 'runs', destructive: false }),
      approve: async () => {
        controller.abort()
        return { approved: true }
      },
    })
    expect(run.events).toContainEqual({
      type: 'approval_resolved',
      request_id: 'approval_1',
      approved: false,
    })
    expectComplete(run)
  })

  it('while the policy is looking runs nothing', async () => {
    const run = await cancelAt('tool_call_started', [{ calls: [makeCall('c1', 'shell', {})] }], {
      tools: [makeTool('shell', () => expect.unreachable())],
      decide: () => new Promise<never>(() => {}),
    })
    expect(run.result.stop_reason).toBe('cancelled')
    expectComplete(run)
  })

  it('during a command waits for its end and keeps what it says', async () => {
    const shell = makeTool('shell', async (_input, { onOutput, signal }) => {
      onOutput('stdout', 'working')
      expect(signal.aborted).toBe(true)
      await new Promise((resolve) => setImmediate(resolve))
      return { ok: false, content: 'command cancelled\nstdout:\nworking', changes: [] }
    })
    const run = await cancelAt('tool_output_chunk', [{ calls: [makeCall('c1', 'shell', {})] }], {
      tools: [shell],
    })
    expect(run.recorded[1]!.content).toContain('working')
    expectComplete(run)
  })

  it('during an edit that gets through tells that it did', async () => {
    const controller = new AbortController()
    const edit = makeTool('edit', () => {
      controller.abort()
      return { ok: true, content: 'applied 1 edit', changes: [{ path: 'a', added: 1, removed: 1 }] }
    })
    const run = await runScript([{ calls: [makeCall('c1', 'edit', {})] }], {
      tools: [edit],
      signal: controller.signal,
    })
    expect(run.recorded[1]).toMatchObject({ ok: true, content: 'applied 1 edit' })
    expect(run.events.some(({ type }) => type === 'file_changed')).toBe(true)
    expectComplete(run)
  })

  it('does not wait for ever for a command that will not end, and says so', async () => {
    const shell = makeTool('shell', (_input, { onOutput }) => {
      onOutput('stdout', 'working')
      return new Promise<never>(() => {})
    })
    const run = await cancelAt('tool_output_chunk', [{ calls: [makeCall('c1', 'shell', {})] }], {
      tools: [shell],
    })
    expect(run.recorded[1]!.content).toContain('what it did is not known')
    expectComplete(run)
  })

  it('during several looks keeps the results that are there', async () => {
    const controller = new AbortController()
    const read = makeTool('read', (input) => {
      if ((input as { n: number }).n === 1) return 'first'
      controller.abort()
      return new Promise<never>(() => {})
    })
    const calls = [
      makeCall('c1', 'read', { n: 1 }),
      makeCall('c2', 'read', { n: 2 }),
      makeCall('c3', 'ls', {}),
    ]
    const run = await runScript([{ calls }], {
      tools: [read, makeTool('ls', () => 'x')],
      signal: controller.signal,
    })
    expect(run.recorded[1]).toMatchObject({ ok: true, content: 'first' })
    expect(run.recorded[2]).toMatchObject({ ok: false, notice: 'cancelled' })
    expectComplete(run)
  })

  it('after the whole answer is stored changes nothing any more', async () => {
    const controller = new AbortController()
    const run = await runScript([{ text: 'Done.' }], {
      signal: controller.signal,
      record: async () => controller.abort(),
    })
    expect(run.result.stop_reason).toBe('stop')
  })
})

describe('a cancel at any moment', () => {
  const answers: ReadonlyArray<Answer> = [
    { reasoning: 'hm', text: 'Let me look.', calls: [makeCall('a', 'ls', {}), makeCall('b', 'read', {})] },
    {
      text: 'I change it.',
      calls: [makeCall('c', 'edit', {}), makeCall('d', 'shell', {}), makeCall('e', 'ls', '{')],
    },
    { text: ' ' },
    { text: 'Now it works.' },
  ]

  it('leaves a turn that is complete, with all that was streamed', async () => {
    const reasons = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 70 }), async (moment) => {
        const controller = new AbortController()
        let moments = 0
        const pause = async () => {
          if (moments++ === moment) controller.abort()
          await Promise.resolve()
        }
        const tools = ['ls', 'read', 'edit', 'shell'].map((name) =>
          makeTool(name, async (_input, { signal }) => {
            await pause()
            await pause()
            signal.throwIfAborted()
            return 'done'
          }),
        )
        const run = await runScript(answers, {
          signal: controller.signal,
          pause,
          tools,
          decide: async ({ name }) => {
            await pause()
            return name === 'shell' ? { type: 'ask', reason: 'runs', destructive: false } : { type: 'allow' }
          },
          approve: async () => {
            await pause()
            await pause()
            return { approved: true }
          },
          emit: () => void pause(),
        })
        reasons.add(run.result.stop_reason)
        // The blank answer that is asked for again is shown, but nothing of it is worth keeping.
        const events = run.events.filter(
          (event) => event.type !== 'assistant_chunk' || event.text.trim() !== '',
        )
        expectComplete({ ...run, events })
      }),
      { numRuns: 150, examples: Array.from({ length: 71 }, (_, moment): [number] => [moment]) },
    )
    expect(reasons).toEqual(new Set(['cancelled', 'stop']))
  })
})
