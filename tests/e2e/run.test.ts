import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { checkedEvents } from './_events.ts'
import { call, test, type World } from './_world.ts'

const edit = call('edit', {
  path: 'src/money.js',
  edits: [{ old_text: 'padStart(3', new_text: 'padStart(4' }],
})

describe.concurrent('cass run', () => {
  test('edits a file of the project; stdout is the final answer alone', async ({ world }) => {
    world.provider.setScript([call('read', { files: [{ path: 'src/money.js' }] }), edit, 'Padded to four.'])
    const { exitCode, stdout } = await world.run(['run', 'pad', 'to', 'four'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Padded to four.\n' })
    expect(readFileSync(join(world.workspace, 'src/money.js'), 'utf8')).toContain('padStart(4')
    const [first, , last] = world.bodies()
    expect(first.messages.at(-1)).toEqual({ role: 'user', content: 'pad to four' })
    expect(last.messages.map(({ role }: { role: string }) => role)).toEqual([
      ...['system', 'user', 'assistant', 'tool', 'assistant', 'tool'],
    ])
    expect(world.provider.chats[0]?.headers.authorization).toBe('Bearer sk-never-shown-0123456789')
  })

  test('--json prints the events of the contract, in order', async ({ world }) => {
    const usage = { prompt_tokens: 10, completion_tokens: 3 }
    world.provider.setScript([
      { reasoning: 'look first', ...edit, usage },
      call('shell', { command: 'echo out; echo err >&2' }),
      { text: ['Do', 'ne.'], usage },
    ])
    const { exitCode, stdout } = await world.run(['run', '--json', '--approve', 'shell', 'go'])
    const events = checkedEvents(stdout)
    const types = events.map(({ type }) => type)
    expect({ exitCode, types: types.filter((type) => type !== 'tool_output_chunk') }).toEqual({
      exitCode: 0,
      types: [
        ...['session_started', 'reasoning_chunk', 'tool_call_started', 'tool_result', 'file_changed'],
        ...['tool_call_started', 'approval_requested', 'approval_resolved', 'tool_result'],
        ...['assistant_chunk', 'assistant_chunk', 'turn_finished'],
      ],
    })
    expect(events.find(({ type }) => type === 'file_changed')).toMatchObject({
      ...{ path: 'src/money.js', added: 1, removed: 1 },
    })
    const chunks = events.filter(({ type }) => type === 'tool_output_chunk')
    expect(chunks.map(({ stream, content }) => [stream, content]).toSorted()).toEqual([
      ['stderr', 'err\n'],
      ['stdout', 'out\n'],
    ])
    expect(events.at(-1)).toMatchObject({
      ...{ stop_reason: 'stop', records: 8 },
      usage: { input_tokens: 20, output_tokens: 6, reasoning_tokens: null, cached_tokens: null },
    })
  })

  test('every run is a new chat, unless --continue goes on with the current one', async ({ world }) => {
    world.provider.setScript(['one', 'two', 'three', 'four'])
    await world.ok(['run', 'first'])
    await world.ok(['run', '--new', 'second'])
    await world.ok(['run', '--continue', 'third'])
    await world.ok(['run', '-c', 'fourth'])
    const chats = await world.json(['chats'])
    expect(chats.chats.map(({ records }: { records: number }) => records)).toEqual([8, 4])
    expect(world.bodies()[3].messages.slice(1)).toEqual([
      ...[
        { role: 'user', content: 'second' },
        { role: 'assistant', content: 'two' },
      ],
      ...[
        { role: 'user', content: 'third' },
        { role: 'assistant', content: 'three' },
      ],
      { role: 'user', content: 'fourth' },
    ])
  })

  test('--branch goes on with a branch by chat id or name, and does not make it current', async ({
    world,
  }) => {
    world.provider.setScript(['one', 'two', 'three'])
    await world.ok(['run', 'first'])
    const main = await world.ok(['resolve', '@'])
    const fork = await world.ok(['branch', '@~1', '--name', 'retry'])
    await world.ok(['run', '--branch', fork, 'second'])
    await world.ok(['run', '--branch', 'retry', 'third'])
    expect(
      world
        .bodies()[2]
        .messages.slice(1)
        .map(({ content }: { content: string }) => content),
    ).toEqual([...['second', 'two', 'third']])
    expect(await world.ok(['resolve', '@'])).toBe(main)
  })

  test('--branch without a prompt answers the last user message, once', async ({ world }) => {
    world.provider.setScript(['one', 'two'])
    await world.ok(['run', 'first'])
    const [user] = (await world.json(['checkpoints', '--kind', 'user'])).checkpoints
    const fork = await world.ok(['branch', user.id])
    expect(await world.ok(['run', '--branch', fork])).toBe('two')
    expect(world.bodies()[1].messages.slice(1)).toEqual([{ role: 'user', content: 'first' }])
    const again = await world.run(['run', '--branch', fork])
    expect(again).toMatchObject({ exitCode: 2, stdout: '' })
    expect(again.stderr).toMatch(/is answered[\s\S]*\nhint: give a prompt/)
    expect(world.bodies()).toHaveLength(2)
  })

  test.for<[string, Parameters<World['provider']['setScript']>[0], string[]]>([
    ['the step limit', [call('ls', {})], ['--max-steps', '1']],
    ['a broken stream', [{ steps: [{ text: 'Half an' }, { act: 'drop' }] }], []],
  ])('what a turn says at %s about going on can be typed', async ([, script, options], { world }) => {
    world.provider.setScript(script)
    const { exitCode, stderr } = await world.run(['run', ...options, 'first'])
    expect(exitCode).toBe(1)
    const [, chat = ''] = /go on with `cass run --branch (\S+)`/.exec(stderr) ?? []
    world.provider.setScript(['done', 'never'])
    expect(await world.ok(['run', '--branch', chat])).toBe('done')
    const prompts = world
      .bodies()
      .at(-1)
      .messages.filter(({ content }: { content: string }) => content === 'first')
    expect(prompts).toHaveLength(1)
    expect((await world.run(['run', '--continue'])).exitCode).toBe(2)
  })

  test('--continue without a prompt goes on with the current branch', async ({ world }) => {
    world.provider.setScript([call('ls', {}), 'done'])
    await world.run(['run', '--max-steps', '1', 'first'])
    expect(await world.ok(['run', '--continue'])).toBe('done')
  })

  test('text from a pipe or a file is the prompt, or stands behind it', async ({ world }) => {
    world.provider.setScript({ fallback: 'ok' })
    await world.ok(['run'], { input: 'from the pipe\n' })
    await world.ok(['run', 'review'], { input: 'line 1\nline 2\n' })
    await world.ok(['run', '--', '--not-an-option'])
    const prompts = world.bodies().map(({ messages }) => messages.at(-1).content)
    expect(prompts).toEqual(['from the pipe', 'review\n\nline 1\nline 2', '--not-an-option'])
  })

  test.for([
    [['--new', '--continue', 'x'], "'--continue' and '--new' exclude each other"],
    [['--branch', 'b', '--continue', 'x'], "'--branch' and '--continue' exclude each other"],
    [['--branch', 'b', '--new', 'x'], "'--branch' and '--new' exclude each other"],
    [['--readonly', '--full-access', 'x'], "'--readonly' and '--full-access' exclude each other"],
    [['--approve', 'most', 'x'], "'--approve' is shell, all or none, not 'most'"],
    [['--max-steps', '0', 'x'], 'max-steps'],
    [[], 'there is no prompt'],
  ] as const)('%j is a usage error', async ([args, message], { world }) => {
    const { exitCode, stdout, stderr } = await world.run(['run', ...args])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(message)
    const { error } = JSON.parse((await world.run(['--json', 'run', ...args])).stdout)
    expect(Object.keys(error).sort()).toEqual(['code', 'hint', 'message'])
    expect(world.bodies()).toEqual([])
  })

  test('--continue without a current branch fails and says how to begin', async ({ world }) => {
    for (const words of [['x'], []]) {
      const { exitCode, stdout, stderr } = await world.run(['run', '--continue', ...words])
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
      expect(stderr).toMatch(/no current branch[\s\S]*hint: begin a chat with cass run/)
    }
  })
})
