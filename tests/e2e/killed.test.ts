import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { Script } from '../../fixtures/provider/server.mjs'
import { type Child, call, type Event, parseEvents, test, type World, waitForEver } from './_world.ts'

const write = call('write', { path: 'one.txt', content: 'one\n' }, 'call_write')
const wait = call('shell', { command: waitForEver, timeout: 600 }, 'call_wait')
const several = {
  text: 'Three calls.',
  calls: [...write.calls!, ...wait.calls!, { id: 'call_last', name: 'ls', arguments: {} }],
}

interface Case {
  readonly script: Script
  /** Resolves when the place is reached at which the program is killed. */
  readonly reached: (child: Child, world: World) => Promise<unknown>
  /**
   * What the next request tells behind the killed turn's user message; nothing: that message and the next one are
   * joined, since the program's own notice is no word of the model.
   */
  readonly roles: ReadonlyArray<string>
}

const cases: Readonly<Record<string, Case>> = {
  'before the provider answered': {
    script: [{ hang: true }],
    reached: (_, world) => world.provider.waitForRequests(1),
    roles: [],
  },
  'in a streamed answer': {
    script: [{ steps: [{ text: 'Half' }, { act: 'stall' }] }],
    reached: (child) => child.event('assistant_chunk'),
    roles: [],
  },
  'in the middle of the arguments of a call': {
    script: [
      {
        steps: [
          { text: 'Now' },
          {
            delta: {
              tool_calls: [
                { index: 0, id: 'c', type: 'function', function: { name: 'write', arguments: '{"pa' } },
              ],
            },
          },
          { act: 'stall' },
        ],
      },
    ],
    reached: (child) => child.event('assistant_chunk'),
    roles: [],
  },
  'in a shell command': {
    script: [wait],
    reached: (child) => child.event('tool_output_chunk'),
    roles: ['assistant', 'tool', 'assistant', 'user'],
  },
  'between two results of one answer': {
    script: [several],
    reached: (child) => child.event('tool_output_chunk'),
    roles: ['assistant', 'tool', 'tool', 'tool', 'assistant', 'user'],
  },
  'between an edit and the next answer': {
    script: [write, { hang: true }],
    reached: (_, world) => world.provider.waitForRequests(2),
    roles: ['assistant', 'tool', 'assistant', 'user'],
  },
}

/** Kills a run where it is to be killed; gives the events it had told of. */
async function kill(world: World, { script, reached }: Case): Promise<Event[]> {
  world.provider.setScript(script)
  const child = world.start(['run', '--json', '--approve', 'all', '--full-access', '-c', 'do it'])
  await reached(child, world)
  child.signal('SIGKILL')
  const { exitCode, stdout } = await child.ended
  expect(exitCode).toBeNull()
  return parseEvents(stdout.slice(0, stdout.lastIndexOf('\n') + 1))
}

describe.concurrent('kill -9', () => {
  test.for(Object.keys(cases))(
    '%s loses nothing that was told, and the next turn goes on',
    async (name, { world }) => {
      world.provider.setScript(['Begun.'])
      await world.ok(['run', 'begin'])
      const count = world.provider.requests.length
      const reached: Case['reached'] = (child, { provider }) =>
        cases[name]!.reached(child, {
          ...world,
          provider: { ...provider, waitForRequests: (n) => provider.waitForRequests(n + count) },
        })
      const events = await kill(world, { ...cases[name]!, reached })
      const started = events.find(({ type }) => type === 'session_started')
      const told = events.filter(({ type }) => type === 'tool_result')

      // Reading shows the turn as it is, and changes nothing.
      const before = world.entries()
      const [branch] = (await world.json(['branches'])).branches
      expect(branch).toMatchObject({ open_turn: true, turns: 2 })
      expect((await world.json(['fsck'])).findings).toMatchObject([{ severity: 'note', code: 'turn_open' }])
      expect((await world.run(['fsck'])).exitCode).toBe(0)
      expect(world.entries()).toEqual(before)

      world.provider.setScript(['Going on.'])
      const next = parseEvents((await world.run(['run', '--json', '-c', 'go on'])).stdout)
      expect(next.at(-1)).toMatchObject({ stop_reason: 'stop', chat_id: started?.chat_id })
      const { messages } = world.bodies().at(-1)
      expect(messages.slice(4).map(({ role }: { role: string }) => role)).toEqual(cases[name]!.roles)
      const { records } = await world.json(['log'])
      for (const { message_id: id, content } of told)
        expect(records.find((record: { message_id: string }) => record.message_id === id)?.content).toBe(
          content,
        )
      expect(records.some(({ message_id: id }: { message_id: string }) => id === started?.message_id)).toBe(
        true,
      )
      expect(
        records.filter(
          ({ notice, type }: Record<string, string>) => notice === 'interrupted' && type === 'assistant',
        ),
      ).toHaveLength(1)
      expect((await world.json(['branches'])).branches).toMatchObject([{ open_turn: false, turns: 3 }])
      expect((await world.json(['fsck'])).findings).toEqual([])
      expect(world.entries().slice(0, before.length)).toEqual(before)
    },
  )

  test('in the middle of many edits leaves each file whole, and the results say what became of them', async ({
    world,
  }) => {
    world.provider.setScript(['Begun.'])
    await world.ok(['run', 'begin'])
    const calls = Array.from({ length: 30 }, (_, i) => ({
      ...{ id: `call_${i}`, name: 'write' },
      arguments: { path: `file-${i}.txt`, content: `${i}\n`.repeat(2000) },
    }))
    world.provider.setScript([{ calls }])
    const child = world.start(['run', '--json', '-c', 'write'])
    await child.event('tool_result', ({ id }) => id === 'call_3')
    child.signal('SIGKILL')
    const { stdout } = await child.ended
    const told = parseEvents(stdout.slice(0, stdout.lastIndexOf('\n') + 1)).filter(
      ({ type }) => type === 'tool_result',
    )
    world.provider.setScript(['Going on.'])
    await world.ok(['run', '-c', 'go on'])
    const results = world
      .bodies()
      .at(-1)
      .messages.filter(({ role }: { role: string }) => role === 'tool')
    expect(results).toHaveLength(30)
    for (const [i, { content }] of results.entries()) {
      const path = join(world.workspace, `file-${i}.txt`)
      if (i < told.length) expect(content).toContain('wrote')
      expect({ i, whole: !existsSync(path) || readFileSync(path, 'utf8') === `${i}\n`.repeat(2000) }).toEqual(
        { i, whole: true },
      )
      if (i >= told.length && !existsSync(path)) expect(content).not.toMatch(/was changed/)
    }
    expect((await world.json(['fsck'])).findings).toEqual([])
    expect(
      (await world.json(['check'])).findings.filter(({ code }: { code: string }) =>
        code.startsWith('journal'),
      ),
    ).toEqual([])
  })

  test('of a process that only waits for its turn leaves no lock behind', async ({ world }) => {
    world.provider.setScript({ rules: [{ when: { user: 'hold' }, reply: wait }], fallback: 'Done.' })
    const holder = world.start(['run', '--json', '--full-access', 'hold'])
    await holder.event('tool_output_chunk')
    holder.signal('SIGKILL')
    await holder.ended
    world.provider.setScript([write, 'Done.'])
    expect(await world.ok(['run', 'write'])).toBe('Done.')
    expect(readFileSync(join(world.workspace, 'one.txt'), 'utf8')).toBe('one\n')
  })
})
