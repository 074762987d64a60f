import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { checkedEvents } from './_events.ts'
import { call, parseEvents, test, type World, waitForEver } from './_world.ts'

interface LoggedRecord {
  readonly type: string
  readonly content: string
  readonly notice: string | null
  readonly message_id: string
}

const recordsOf = async (world: World, branch = '@'): Promise<ReadonlyArray<LoggedRecord>> =>
  (await world.json(['log', branch])).records

/** Leaves a turn behind whose process was killed in a shell command. */
async function leaveDeadTurn(world: World, args: string[]): Promise<string> {
  const wait = call('shell', { command: waitForEver, timeout: 600 }, 'call_wait')
  world.provider.setScript([wait])
  const child = world.start(['run', '--json', '--full-access', ...args, 'do it'])
  await child.event('tool_output_chunk')
  child.signal('SIGKILL')
  const { stdout } = await child.ended
  return parseEvents(stdout.slice(0, stdout.lastIndexOf('\n') + 1))[0]?.chat_id
}

describe.concurrent('a dead turn', () => {
  test('that was the first of its chat is gone on with', async ({ world }) => {
    const chat = await leaveDeadTurn(world, [])
    expect(await world.ok(['resolve', '@'])).toBe(chat)
    world.provider.setScript(['Going on.'])
    expect(await world.ok(['run', '-c', 'go on'])).toBe('Going on.')
    expect((await recordsOf(world)).map(({ type, notice }) => [type, notice])).toEqual([
      ['user', null],
      ['assistant', null],
      ['tool', 'interrupted'],
      ['assistant', 'interrupted'],
      ['user', null],
      ['assistant', null],
    ])
  })

  test('is completed once, also when two processes go on at the same moment', async ({ world }) => {
    world.provider.setScript(['Begun.'])
    await world.ok(['run', 'begin'])
    const chat = await leaveDeadTurn(world, ['-c'])
    world.provider.setScript({ fallback: 'Going on.' })
    const outcomes = await Promise.all(['one', 'two'].map((name) => world.run(['run', '--json', '-c', name])))
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0])
    const ends = outcomes.map(({ stdout }) => checkedEvents(stdout).at(-1)?.chat_id)
    expect(ends).toContain(chat)
    for (const [i, branch] of ends.entries()) {
      const records = await recordsOf(world, branch)
      expect(records.map(({ content }) => content)).toContain(['one', 'two'][i])
      expect(
        records.filter(({ type, notice }) => type === 'assistant' && notice === 'interrupted').length,
      ).toBeLessThanOrEqual(1)
    }
    const results = world.entries().filter(({ msgs }) => msgs?.[0].tool_call_id === 'call_wait')
    expect(results).toHaveLength(1)
    expect((await world.json(['fsck'])).findings).toEqual([])
    expect(
      (await world.json(['branches'])).branches.map(({ open_turn: open }: { open_turn: boolean }) => open),
    ).not.toContain(true)
  })

  test('can be branched from, and its own branch still goes on', async ({ world }) => {
    world.provider.setScript(['Begun.'])
    await world.ok(['run', 'begin'])
    const chat = await leaveDeadTurn(world, ['-c'])
    const fork = await world.ok(['branch', '@', '--name', 'aside'])
    world.provider.setScript({ fallback: 'Going on.' })
    expect(await world.ok(['run', '--branch', fork, 'aside'])).toBe('Going on.')
    const [, ...messages] = world.bodies().at(-1).messages
    expect(messages.map(({ role }: { role: string }) => role)).toEqual([
      ...['user', 'assistant', 'user', 'assistant', 'tool', 'assistant', 'user'],
    ])
    expect((await recordsOf(world, chat)).some(({ notice }) => notice === 'interrupted')).toBe(false)
    expect(await world.ok(['run', '--branch', chat, 'go on'])).toBe('Going on.')
    expect((await recordsOf(world, chat)).filter(({ notice }) => notice === 'interrupted')).toHaveLength(2)
  })

  test('of another machine counts as living: one goes on beside it, and nothing of it is touched', async ({
    world,
  }) => {
    world.provider.setScript(['Begun.'])
    await world.ok(['run', 'begin'])
    const chat = await leaveDeadTurn(world, ['-c'])
    // As a shared folder would bring it: the same lines, by a writer of another host.
    const path = join(world.cassHome, 'conversations', `${chat}.events.jsonl`)
    const text = readFileSync(path, 'utf8')
    const writer = /"type":"turn_begin".*"writer":"([^"]+)"/.exec(
      text.split('\n').findLast((line) => line.includes('turn_begin')) ?? '',
    )?.[1]
    writeFileSync(path, text.replaceAll(writer!, 'another-host-77-0123456789abcdef'))
    world.provider.setScript(['Beside.'])
    const { stdout } = await world.run(['run', '--json', '-c', 'go on'])
    const events = checkedEvents(stdout)
    expect(events.at(-1)?.chat_id).not.toBe(chat)
    expect(events.some(({ code }) => code === 'session_concurrent_writer')).toBe(true)
    expect((await recordsOf(world, chat)).some(({ notice }) => notice !== null)).toBe(false)
    expect((await world.json(['branches'])).branches).toEqual(
      expect.arrayContaining([expect.objectContaining({ chat_id: chat, open_turn: true })]),
    )
  })
})
