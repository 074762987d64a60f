import { describe, expect, it } from 'vitest'
import type { Message } from '../../../sources/conversation/message.ts'
import { makeCall, providerError } from './_scriptedModel.ts'
import { makeGate, makeTool, NOW, runScript, userMessage } from './_turn.ts'

describe('a turn', () => {
  it('ends with the first answer without a call', async () => {
    const { result, recorded, events } = await runScript([{ text: 'All done.' }])
    expect(result).toEqual({
      stop_reason: 'stop',
      text: 'All done.',
      usage: { input_tokens: null, output_tokens: null, reasoning_tokens: null, cached_tokens: null },
    })
    expect(recorded).toEqual([{ role: 'assistant', content: 'All done.', ts: NOW, message_id: 'm_1' }])
    expect(events).toEqual([
      { type: 'assistant_chunk', text: 'All d' },
      { type: 'assistant_chunk', text: 'one.' },
    ])
  })

  it('runs the calls, gives their results to the model, and goes on', async () => {
    const write = makeTool('write', () => ({
      ok: true,
      content: 'wrote 2 bytes',
      changes: [{ path: 'a.txt', added: 1, removed: 0 }],
    }))
    const { result, recorded, events, requests } = await runScript(
      [{ text: 'I write.', calls: [makeCall('c1', 'write', { path: 'a.txt' })] }, { text: 'Written.' }],
      { tools: [write] },
    )
    expect(result.text).toBe('Written.')
    expect(recorded.map(({ role, message_id }) => [role, message_id])).toEqual([
      ['assistant', 'm_1'],
      ['tool', 'm_2'],
      ['assistant', 'm_3'],
    ])
    expect(recorded[1]).toEqual({
      role: 'tool',
      content: 'wrote 2 bytes',
      tool_call_id: 'c1',
      name: 'write',
      ok: true,
      ts: NOW,
      message_id: 'm_2',
    })
    expect(events).toContainEqual({
      type: 'tool_call_started',
      id: 'c1',
      name: 'write',
      arguments: { path: 'a.txt' },
    })
    expect(events.slice(-4, -2)).toEqual([
      { type: 'tool_result', id: 'c1', name: 'write', ok: true, content: 'wrote 2 bytes', message_id: 'm_2' },
      { type: 'file_changed', path: 'a.txt', tool_call_id: 'c1', added: 1, removed: 0 },
    ])
    expect(requests[1]!.messages.at(-1)).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: 'wrote 2 bytes',
    })
    expect(requests[0]!.tools.map(({ name }) => name)).toEqual(['write'])
  })

  it('streams reasoning, keeps it, and sends it back under its name', async () => {
    const { recorded, events, requests } = await runScript(
      [{ reasoning: 'hmm', text: 'x', calls: [makeCall('c1', 'ls', {})] }, { text: 'ok' }],
      { tools: [makeTool('ls', () => 'nothing')] },
    )
    expect(events[0]).toEqual({ type: 'reasoning_chunk', text: 'hm' })
    expect(recorded[0]).toMatchObject({ reasoning_content: 'hmm', reasoning_field: 'reasoning_content' })
    expect(requests[1]!.messages[2]).toMatchObject({ reasoning: { field: 'reasoning_content', text: 'hmm' } })
  })

  it('adds up the usage of all its answers and stores each with its message', async () => {
    const usage = { input_tokens: 100, output_tokens: 5, reasoning_tokens: null, cached_tokens: 80 }
    const { result, recorded } = await runScript(
      [
        { calls: [makeCall('c1', 'ls', {})], usage },
        { text: 'ok', usage: { ...usage, reasoning_tokens: 7 } },
      ],
      { tools: [makeTool('ls', () => 'nothing')] },
    )
    expect(result.usage).toEqual({
      input_tokens: 200,
      output_tokens: 10,
      reasoning_tokens: 7,
      cached_tokens: 160,
    })
    expect(recorded[0]!.usage).toEqual(usage)
  })

  it('tells of a result only once it is stored', async () => {
    const { story } = await runScript([{ calls: [makeCall('c1', 'ls', {})] }, { text: 'ok' }], {
      tools: [makeTool('ls', () => 'nothing')],
    })
    expect(story.slice(0, 4)).toEqual(['record assistant', 'tool_call_started', 'record tool', 'tool_result'])
  })

  it('passes on the output of a running command, and none after its end', async () => {
    let late = () => {}
    const shell = makeTool('shell', (_input, { onOutput }) => {
      onOutput('stdout', 'live')
      late = () => onOutput('stderr', 'late')
      return 'done'
    })
    const { events } = await runScript([{ calls: [makeCall('c1', 'shell', {})] }, { text: 'ok' }], {
      tools: [shell],
      emit: (event) => {
        if (event.type === 'tool_result') late()
      },
    })
    expect(events.filter(({ type }) => type === 'tool_output_chunk')).toEqual([
      { type: 'tool_output_chunk', id: 'c1', name: 'shell', stream: 'stdout', content: 'live' },
    ])
  })

  it('stores a result whole and sends it with limit guidance', async () => {
    const lines = Array.from({ length: 200 }, (_, n) => `${String(n + 1).padStart(6)} | line ${n + 1}`)
    const content = `--- large.txt lines 1-200 ---\n${lines.join('\n')}\n`
    const { recorded, requests } = await runScript(
      [{ calls: [makeCall('c1', 'read', { files: [{ path: 'large.txt' }] })] }, { text: 'ok' }],
      {
        tools: [makeTool('read', () => content)],
        limits: { context_length: null, max_output_tokens: null, message_limit: 80, tool_result_limit: 180 },
      },
    )
    expect(recorded[1]!.content).toBe(content)
    const sent = requests[1]!.messages.at(-1)!.content
    expect(sent).toContain('Cass truncated this tool output')
    expect(sent).toContain('large.txt lines 1-200')
  })

  it('runs neighbouring looks at the same time and records them in call order', async () => {
    const second = makeGate()
    const read = makeTool('read', async (input) => {
      const { n } = input as { n: number }
      if (n === 1) await second.promise
      else second.open()
      return `result ${n}`
    })
    const calls = [makeCall('c1', 'read', { n: 1 }), makeCall('c2', 'read', { n: 2 })]
    const { recorded } = await runScript([{ calls }, { text: 'ok' }], { tools: [read] })
    expect(recorded.slice(1, 3).map(({ content }) => content)).toEqual(['result 1', 'result 2'])
  })

  it('runs calls that may change something one after another', async () => {
    let running = 0
    const write = makeTool('write', async () => {
      expect(++running).toBe(1)
      await Promise.resolve()
      running--
      return 'ok'
    })
    const calls = [makeCall('c1', 'write', {}), makeCall('c2', 'write', {}), makeCall('c3', 'write', {})]
    const { recorded } = await runScript([{ calls }, { text: 'ok' }], { tools: [write] })
    expect(recorded.filter(({ ok }) => ok === true)).toHaveLength(3)
  })

  it('gives a repeated call id its own, so that each result has its call', async () => {
    const calls = [makeCall('call_0', 'ls', {}), makeCall('call_0', 'ls', {})]
    const { recorded } = await runScript([{ calls }, { text: 'ok' }], { tools: [makeTool('ls', () => 'x')] })
    expect(recorded[0]!.tool_calls!.map(({ id }) => id)).toEqual(['call_0', 'call_0_2'])
    expect(recorded.slice(1, 3).map(({ tool_call_id }) => tool_call_id)).toEqual(['call_0', 'call_0_2'])
  })
})

describe('a call that cannot run', () => {
  it.each([
    ['{"path": "a', 'not a JSON object'],
    ['[1]', 'they are an array'],
    ['"x"', 'they are a string'],
    ['null', 'they are a null value'],
  ])('with the arguments %s gets a result that says its JSON is broken', async (args, fragment) => {
    const { recorded, events, result } = await runScript(
      [{ calls: [makeCall('c1', 'write', args)] }, { text: 'ok' }],
      {
        tools: [makeTool('write', () => expect.unreachable())],
      },
    )
    expect(recorded[1]).toMatchObject({ ok: false, tool_call_id: 'c1' })
    expect(recorded[1]!.content).toContain(fragment)
    expect(recorded[1]!.content).toContain('Send the call again')
    expect(recorded[0]!.tool_calls![0]!.arguments).toBe(args)
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool_call_started', arguments: { _raw: args } }),
    )
    expect(result.stop_reason).toBe('stop')
  })

  it('of an unknown tool is told so', async () => {
    const { recorded } = await runScript([{ calls: [makeCall('c1', 'fly', {})] }, { text: 'ok' }])
    expect(recorded[1]).toMatchObject({ ok: false, content: 'unknown tool `fly`' })
  })

  it('of a tool that the mode does not offer is told that, not that there is no such tool', async () => {
    const { recorded } = await runScript([{ calls: [makeCall('c1', 'edit', {})] }, { text: 'ok' }], {
      decide: () => ({ type: 'deny', reason: 'write/edit tools are unavailable in read-only mode' }),
    })
    expect(recorded[1]!.content).toBe('write/edit tools are unavailable in read-only mode')
  })

  it('that the policy denies is told the reason, and the turn goes on', async () => {
    const { recorded, result } = await runScript([{ calls: [makeCall('c1', 'shell', {})] }, { text: 'ok' }], {
      tools: [makeTool('shell', () => expect.unreachable())],
      decide: () => ({ type: 'deny', reason: 'shell is unavailable in read-only mode' }),
    })
    expect(recorded[1]).toMatchObject({ ok: false, content: 'shell is unavailable in read-only mode' })
    expect(result.text).toBe('ok')
  })

  it('that the policy cannot judge is denied', async () => {
    const { recorded } = await runScript([{ calls: [makeCall('c1', 'shell', {})] }, { text: 'ok' }], {
      tools: [makeTool('shell', () => expect.unreachable())],
      decide: async () => {
        throw new Error('no such folder')
      },
    })
    expect(recorded[1]).toMatchObject({ ok: false, content: 'no such folder' })
  })

  it('because its tool throws is a failed result, not a failed turn', async () => {
    const { recorded, result } = await runScript([{ calls: [makeCall('c1', 'ls', {})] }, { text: 'ok' }], {
      tools: [
        makeTool('ls', () => {
          throw new Error('broken tool')
        }),
      ],
    })
    expect(recorded[1]).toMatchObject({ ok: false, content: 'broken tool' })
    expect(result.stop_reason).toBe('stop')
  })
})

describe('approval', () => {
  const calls = [makeCall('c1', 'shell', { command: 'make' })]
  const ask = () => ({ type: 'ask', reason: 'runs `make`' }) as const

  it('comes before the call runs', async () => {
    let hasRun = false
    const { recorded, events } = await runScript([{ calls }, { text: 'ok' }], {
      tools: [
        makeTool('shell', () => {
          hasRun = true
          return 'exit code: 0'
        }),
      ],
      decide: ask,
      approve: async (request) => {
        expect(hasRun).toBe(false)
        expect(request).toEqual({
          request_id: 'approval_1',
          tool_call_id: 'c1',
          name: 'shell',
          arguments: { command: 'make' },
          reason: 'runs `make`',
        })
        return { approved: true }
      },
    })
    expect(recorded[1]).toMatchObject({ ok: true, content: 'exit code: 0' })
    expect(events.map(({ type }) => type).slice(0, 4)).toEqual([
      'tool_call_started',
      'approval_requested',
      'approval_resolved',
      'tool_result',
    ])
  })

  it.each([
    ['a refusal', async () => ({ approved: false }), 'user denied approval for this tool call'],
    [
      'a refusal with a reason',
      async () => ({ approved: false, reason: 'use npm' }),
      'user denied approval for this tool call: use npm',
    ],
    [
      'a run that has nobody to ask',
      async () => ({ approved: false, nobody: true }),
      'this call needs approval and nobody can give it here',
    ],
    [
      'nobody left to ask',
      async () => Promise.reject(new Error('closed')),
      'user denied approval for this tool call',
    ],
  ])('denied by %s runs nothing and goes on', async (_title, approve, content) => {
    const { recorded, events, result } = await runScript([{ calls }, { text: 'ok' }], {
      tools: [makeTool('shell', () => expect.unreachable())],
      decide: ask,
      approve,
    })
    expect(recorded[1]).toMatchObject({ ok: false, content })
    expect(events).toContainEqual({ type: 'approval_resolved', request_id: 'approval_1', approved: false })
    expect(result.text).toBe('ok')
  })

  it('denied for something destructive says so', async () => {
    const { recorded } = await runScript([{ calls }, { text: 'ok' }], {
      tools: [makeTool('shell', () => expect.unreachable())],
      decide: () => ({ type: 'ask', reason: 'removes files', destructive: true }),
      approve: async () => ({ approved: false }),
    })
    expect(recorded[1]!.content).toBe('user denied approval for this destructive tool call')
  })
})

describe('an answer that is not one', () => {
  it('is asked for once more, with words that are not stored', async () => {
    const { result, recorded, events, requests } = await runScript([{ text: ' ' }, { text: 'Done.' }])
    expect(requests[1]!.messages.at(-1)!.content).toContain('previous response contained no user-facing text')
    expect(events).toContainEqual({ type: 'status', text: expect.stringContaining('empty final response') })
    expect(recorded.map(({ content }) => content)).toEqual(['Done.'])
    expect(result).toMatchObject({ stop_reason: 'stop', text: 'Done.' })
  })

  it('twice ends the turn with a notice', async () => {
    const { result, recorded, requests } = await runScript([{ text: '' }])
    expect(requests).toHaveLength(2)
    expect(recorded).toEqual([
      expect.objectContaining({
        role: 'assistant',
        content: 'The model finished without a final response.',
        notice: 'interrupted',
      }),
    ])
    expect(result).toMatchObject({ stop_reason: 'error', text: '' })
  })

  it('is asked for again when there was a good one in between', async () => {
    const call = { calls: [makeCall('c1', 'ls', {})] }
    const { result, requests } = await runScript([{ text: '' }, call, { text: '' }, { text: 'Done.' }], {
      tools: [makeTool('ls', () => 'x')],
    })
    expect(result.text).toBe('Done.')
    expect(requests).toHaveLength(4)
    expect(JSON.stringify(requests[2]!.messages)).not.toContain('no user-facing text')
  })

  it('because the provider failed is kept as far as it came', async () => {
    const { result, recorded, events } = await runScript([
      { text: 'Half an ans', reasoning: 'why', end: { error: providerError('provider_unavailable') } },
    ])
    expect(result).toMatchObject({ stop_reason: 'error', text: 'Half an ans' })
    expect(recorded.map(({ content, notice }) => [content, notice])).toEqual([
      ['Half an ans', undefined],
      ["The model could not complete this turn: provider 'example.test' answered 503.", 'provider_error'],
    ])
    expect(events.at(-1)).toEqual({
      type: 'error',
      code: 'provider_unavailable',
      message: "provider 'example.test' answered 503",
      hint: 'try again later',
    })
  })

  it('because of an unknown error tells nothing that the error says', async () => {
    const { recorded, events } = await runScript([{ end: { error: new TypeError('key sk-secret in url') } }])
    expect(JSON.stringify([recorded, events])).not.toContain('sk-secret')
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'provider_failed' })
  })

  it('because the request was too long is asked for once with half of it', async () => {
    const { result, requests, events } = await runScript([
      { end: { error: providerError('provider_context_too_long') } },
      { text: 'ok' },
    ])
    expect(result.text).toBe('ok')
    expect(requests).toHaveLength(2)
    expect(events[0]).toMatchObject({ type: 'status' })
    const again = await runScript([{ end: { error: providerError('provider_context_too_long') } }])
    expect(again.requests).toHaveLength(2)
    expect(again.result.stop_reason).toBe('error')
  })

  it('cut by the output limit stands as it is', async () => {
    const { result, recorded, events } = await runScript([{ text: 'A long story', finish: 'length' }])
    expect(result).toMatchObject({ stop_reason: 'length', text: 'A long story' })
    expect(recorded).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'notice', code: 'answer_cut' })
  })

  it('cut inside a call runs what is whole and not what is broken', async () => {
    const ran: unknown[] = []
    const tools = [
      makeTool('write', (input) => {
        ran.push(input)
        return 'ok'
      }),
    ]
    const calls = [makeCall('c1', 'write', { n: 1 }), makeCall('c2', 'write', '{"n": 2, "content": "abc')]
    const { result, recorded, requests } = await runScript([{ calls, finish: 'length' }], { tools })
    expect(ran).toEqual([{ n: 1 }])
    expect(result.stop_reason).toBe('length')
    expect(requests).toHaveLength(1)
    expect(recorded.map(({ role, ok }) => [role, ok])).toEqual([
      ['assistant', undefined],
      ['tool', true],
      ['tool', false],
      ['assistant', undefined],
    ])
    expect(recorded[2]!.content).toContain('cut by the output limit')
    expect(recorded[3]!.notice).toBe('interrupted')
  })
})

describe('the step limit', () => {
  it('of one call is told in the singular', async () => {
    const { recorded } = await runScript([{ calls: [makeCall('c', 'ls', {})] }], {
      tools: [makeTool('ls', () => 'x')],
      maxSteps: 1,
    })
    expect(recorded.at(-1)!.content).toContain('after 1 model call, ')
  })

  it('ends a turn that never comes to an end', async () => {
    const { result, recorded, events, requests } = await runScript([{ calls: [makeCall('c', 'ls', {})] }], {
      tools: [makeTool('ls', () => 'x')],
      maxSteps: 3,
    })
    expect(requests).toHaveLength(3)
    expect(result).toMatchObject({ stop_reason: 'step_limit', text: '' })
    expect(recorded.at(-1)).toMatchObject({ role: 'assistant', notice: 'interrupted' })
    expect(recorded.at(-1)!.content).toContain('3 model calls')
    expect(events.at(-1)).toMatchObject({ type: 'notice', code: 'step_limit', chat_id: null })
  })
})

describe('a log that cannot be written', () => {
  it('ends the turn with its error, after what was running was stopped', async () => {
    let isStopped = false
    const gate = makeGate()
    const slow = makeTool('read', async (_input, { signal }) => {
      signal.addEventListener('abort', () => {
        isStopped = true
      })
      await gate.promise
      return 'x'
    })
    const calls = [makeCall('c1', 'ls', {}), makeCall('c2', 'read', {})]
    const record = async (message: Message) => {
      if (message.role === 'tool') throw new Error('disk full')
    }
    await expect(
      runScript([{ calls }], { tools: [makeTool('ls', () => 'x'), slow], record }),
    ).rejects.toThrow('disk full')
    expect(isStopped).toBe(true)
  })
})

describe('notices', () => {
  it('of earlier turns are not sent as the words of the model', async () => {
    const earlier: Message[] = [
      userMessage('first'),
      { role: 'assistant', content: 'Turn cancelled by user.', notice: 'cancelled', ts: NOW },
      userMessage('second'),
    ]
    const { requests } = await runScript([{ text: 'ok' }], { messages: earlier })
    const assistant = requests[0]!.messages.filter(({ role }) => role === 'assistant')
    expect(JSON.stringify(assistant)).not.toContain('cancelled by user')
    expect(JSON.stringify(requests[0]!.messages)).toContain('cancelled by user')
  })
})
