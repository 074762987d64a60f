import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { checkedEvents } from './_events.ts'
import { call, test, type World } from './_world.ts'

/** The next turn: what it sends is a request that a strict provider takes. */
async function goOn(world: World): Promise<ReadonlyArray<{ role: string; content: string }>> {
  world.provider.setScript(['Going on.'])
  expect(await world.ok(['run', '--continue', 'go on'])).toBe('Going on.')
  return world.bodies().at(-1).messages
}

/** Whether a process runs; a dead one that nobody has waited for yet does not. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = `/proc/${pid}/stat`
  return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, 'utf8'))
}

describe.concurrent('Ctrl-C', () => {
  test('in a streamed answer keeps what had come', async ({ world }) => {
    world.provider.setScript([{ steps: [{ text: ['Half ', 'an'] }, { act: 'stall' }] }])
    const child = world.start(['run', '--json', 'x'])
    await child.event('assistant_chunk', ({ text }) => text === 'an')
    child.signal('SIGINT')
    const { exitCode, stdout } = await child.ended
    expect(exitCode).toBe(130)
    expect(checkedEvents(stdout).at(-1)).toMatchObject({ stop_reason: 'cancelled' })
    const { records } = await world.json(['log'])
    expect(records.map(({ notice }: { notice: string | null }) => notice)).toEqual([null, null, 'cancelled'])
    expect(records[1].content).toBe('Half an')
    const messages = await goOn(world)
    expect(messages.some(({ content }) => content.includes('Half an'))).toBe(true)
  })

  test('without --json says how to go on', async ({ world }) => {
    world.provider.setScript([{ steps: [{ text: 'Half an' }, { act: 'stall' }] }])
    const child = world.start(['run', 'x'])
    await world.provider.waitForRequests(1)
    child.signal('SIGINT')
    const { exitCode, stderr } = await child.ended
    expect(exitCode).toBe(130)
    const [, chat = ''] = /go on with `cass run --branch (\S+)`/.exec(stderr) ?? []
    world.provider.setScript(['Going on.'])
    expect(await world.ok(['run', '--branch', chat])).toBe('Going on.')
  })

  test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'or %s in a shell command kills it with all it started',
    async (signal, { world }) => {
      const background = `sh -c 'trap "" INT TERM HUP; echo $$ > pid; echo started; while :; do sleep 0.05; done'`
      const command = `${background} & sleep 600; touch done`
      world.provider.setScript([call('shell', { command, timeout: 600 })])
      const child = world.start(['run', '--json', '--approve', 'shell', 'x'])
      await child.event('tool_output_chunk', ({ content }) => content.includes('started'))
      child.signal(signal)
      const { exitCode, stdout } = await child.ended
      expect(exitCode).toBe(130)
      const events = checkedEvents(stdout)
      expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({ ok: false })
      expect(events.at(-1)).toMatchObject({ stop_reason: 'cancelled' })
      const pid = Number(readFileSync(join(world.workspace, 'pid'), 'utf8'))
      await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 })
      expect(existsSync(join(world.workspace, 'done'))).toBe(false)
      const messages = await goOn(world)
      expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(1)
    },
  )

  test('in the second of three calls answers all of them', async ({ world }) => {
    world.provider.setScript([
      {
        calls: [
          { name: 'write', arguments: { path: 'one.txt', content: '1' } },
          { name: 'shell', arguments: { command: 'echo started; exec sleep 600', timeout: 600 } },
          { name: 'write', arguments: { path: 'three.txt', content: '3' } },
        ],
      },
    ])
    const child = world.start(['run', '--json', '--approve', 'all', 'x'])
    await child.event('tool_output_chunk')
    child.signal('SIGINT')
    const { exitCode, stdout } = await child.ended
    expect(exitCode).toBe(130)
    const results = checkedEvents(stdout).filter(({ type }) => type === 'tool_result')
    expect(results[0]).toMatchObject({ ok: true })
    expect(existsSync(join(world.workspace, 'one.txt'))).toBe(true)
    expect(existsSync(join(world.workspace, 'three.txt'))).toBe(false)
    const messages = await goOn(world)
    expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(3)
  })

  test('in a tool that nobody is asked about ends its wait for another process', async ({ world }) => {
    world.provider.setScript({
      rules: [
        {
          when: { user: 'first' },
          reply: call('shell', { command: 'echo held; exec sleep 600', timeout: 600 }),
        },
        { when: { user: 'second' }, reply: call('write', { path: 'two.txt', content: '2' }) },
      ],
    })
    const first = world.start(['run', '--json', '--full-access', 'first'])
    await first.event('tool_output_chunk')
    const second = world.start(['run', '--json', 'second'])
    await second.event('status', ({ text }) => text.includes('two.txt'))
    second.signal('SIGINT')
    const outcome = await second.ended
    expect(outcome.exitCode).toBe(130)
    const events = checkedEvents(outcome.stdout)
    expect(events.filter(({ type }) => type === 'status')).toHaveLength(1)
    expect(existsSync(join(world.workspace, 'two.txt'))).toBe(false)
    first.signal('SIGINT')
    expect((await first.ended).exitCode).toBe(130)
    await goOn(world)
  })

  test('while waiting for another try ends the wait', async ({ world }) => {
    world.provider.setScript([{ status: 429, headers: { 'retry-after': '20' }, body: {} }])
    const child = world.start(['run', '--json', 'x'])
    await child.event('status')
    child.signal('SIGINT')
    const { exitCode, stdout } = await child.ended
    expect(exitCode).toBe(130)
    expect(checkedEvents(stdout).at(-1)).toMatchObject({ stop_reason: 'cancelled' })
    expect(world.bodies()).toHaveLength(1)
    await goOn(world)
  })

  test('while the provider has not answered at all ends the turn', async ({ world }) => {
    world.provider.setScript([{ hang: true }])
    const child = world.start(['run', 'x'])
    await world.provider.waitForRequests(1)
    child.signal('SIGINT')
    expect(await child.ended).toMatchObject({ exitCode: 130, stdout: '' })
    expect(await world.provider.chats[0]?.closed).toBe(true)
    await goOn(world)
  })
})
