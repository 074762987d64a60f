import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { checkedEvents } from './_events.ts'
import { call, test } from './_world.ts'

describe.concurrent('two processes on one chat', () => {
  test('both keep their turn, one of them on a concurrent branch, and both are told', async ({ world }) => {
    world.provider.setScript({
      rules: [
        { when: { user: '^begin' }, reply: 'Begun.' },
        // The first turn waits in a tool until the second one is over.
        { when: { user: '^one', step: 0 }, reply: call('shell', { command: waitForFile, timeout: 120 }) },
        { when: { user: '^one' }, reply: 'Answer one.' },
        { when: { user: '^two' }, reply: 'Answer two.' },
      ],
    })
    await world.ok(['run', 'begin'])
    const main = await world.ok(['resolve', '@'])
    const one = world.start(['run', '--json', '--approve', 'shell', '-c', 'one'])
    await one.event('tool_output_chunk')
    const two = await world.run(['run', '--json', '-c', 'two'])
    expect(two.exitCode).toBe(0)
    const ofTwo = checkedEvents(two.stdout)
    const notice = ofTwo.find(({ code }) => code === 'session_concurrent_writer')
    const { chat_id: beside } = ofTwo.at(-1)!
    expect(beside).not.toBe(main)
    expect(notice).toMatchObject({ chat_id: beside })
    writeFileSync(join(world.workspace, 'go'), '')
    const { exitCode, stdout } = await one.ended
    expect(exitCode).toBe(0)
    const ofOne = checkedEvents(stdout)
    expect(ofOne.at(-1)).toMatchObject({ chat_id: main, stop_reason: 'stop' })
    expect(ofOne.find(({ code }) => code === 'session_concurrent_writer')).toMatchObject({ chat_id: beside })

    const { branches, current } = await world.json(['branches'])
    expect(current).toBe(main)
    expect(
      branches.map(({ chat_id, kind, turns }: Record<string, unknown>) => [chat_id, kind, turns]),
    ).toEqual(
      expect.arrayContaining([
        [main, 'main', 2],
        [beside, 'concurrent', 2],
      ]),
    )
    const texts = async (branch: string) =>
      (await world.json(['log', branch])).records
        .filter(({ type }: { type: string }) => type !== 'tool')
        .map(({ content }: { content: string }) => content)
        .filter((content: string) => content !== '')
    expect(await texts(main)).toEqual(['begin', 'Begun.', 'one', 'Answer one.'])
    expect(await texts(beside)).toEqual(['begin', 'Begun.', 'two', 'Answer two.'])
    expect((await world.json(['fsck'])).findings).toEqual([])
  })

  test('that begin at the same moment lose nothing', async ({ world }) => {
    world.provider.setScript({
      rules: [{ when: { user: 'go (\\w+)' }, reply: call('ls', {}), times: 6 }],
      fallback: 'Done.',
    })
    await world.ok(['run', 'begin'])
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const outcomes = await Promise.all(names.map((name) => world.run(['run', '--json', '-c', `go ${name}`])))
    const ends = outcomes.map(({ stdout }) => checkedEvents(stdout).at(-1)!)
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0))
    // Each turn is whole on the branch that its own process named.
    for (const [i, { chat_id: branch }] of ends.entries()) {
      const { records } = await world.json(['log', branch])
      const at = records.findIndex(({ content }: { content: string }) => content === `go ${names[i]}`)
      expect(at).toBeGreaterThan(0)
      expect(records.slice(at).find(({ content }: { content: string }) => content === 'Done.')).toBeDefined()
    }
    const users = world.entries().flatMap(({ msgs }) => (msgs?.[0].role === 'user' ? [msgs[0].content] : []))
    expect(users.toSorted()).toEqual(['begin', ...names.map((name) => `go ${name}`)])
    expect((await world.json(['fsck'])).findings).toEqual([])
  })

  test('write different files at once, and the same file one after the other', async ({ world }) => {
    world.provider.setScript({
      rules: [1, 2, 3, 4].flatMap((n) => [
        {
          when: { user: `^number ${n}`, step: 0 },
          reply: call('write', { path: `own-${n}.txt`, content: `${n}` }),
        },
        {
          when: { user: `^number ${n}`, step: 1 },
          reply: call('write', { path: 'shared.txt', content: `${n}` }),
        },
      ]),
      fallback: 'Done.',
    })
    const outcomes = await Promise.all([1, 2, 3, 4].map((n) => world.run(['run', `number ${n}`])))
    expect(outcomes.map(({ exitCode, stdout }) => ({ exitCode, stdout }))).toEqual(
      [1, 2, 3, 4].map(() => ({ exitCode: 0, stdout: 'Done.\n' })),
    )
    const names = readdirSync(world.workspace)
    expect(names).toEqual(
      expect.arrayContaining(['own-1.txt', 'own-2.txt', 'own-3.txt', 'own-4.txt', 'shared.txt']),
    )
    expect(names.filter((name) => name.startsWith('.cass-'))).toEqual([])
    expect((await world.json(['chats'])).chats).toHaveLength(4)
    expect((await world.json(['fsck'])).findings).toEqual([])
  })
})

const waitForFile = 'echo waiting; while [ ! -e go ]; do sleep 0.02; done; echo went'

describe.concurrent('many branches at once', () => {
  test('are all made, each with its own chat id', async ({ world }) => {
    world.provider.setScript(['One.', 'Two.'])
    await world.ok(['run', 'first'])
    const places = ['@', '@~1', '@:2', '@', '@~1', '@:2', '@', '@']
    const made = await Promise.all(places.map((place) => world.ok(['branch', place])))
    expect(new Set(made).size).toBe(places.length)
    const { branches } = await world.json(['branches'])
    expect(branches.map(({ chat_id: id }: { chat_id: string }) => id)).toEqual(expect.arrayContaining(made))
    expect(branches).toHaveLength(places.length + 1)
    expect((await world.json(['fsck'])).findings).toEqual([])
  })

  test('cannot take the same name', async ({ world }) => {
    world.provider.setScript(['One.'])
    await world.ok(['run', 'first'])
    const other = await world.ok(['branch', '@'])
    const tries = [
      ...Array.from({ length: 6 }, () => ['branch', '@', '--name', 'same']),
      ['branch', '--rename', other, 'same'],
    ]
    const codes = (await Promise.all(tries.map((args) => world.run(args)))).map(({ exitCode }) => exitCode)
    expect(codes.toSorted()).toEqual([0, 2, 2, 2, 2, 2, 2])
    const { branches } = await world.json(['branches'])
    expect(branches.filter(({ name }: { name: string }) => name === 'same')).toHaveLength(1)
  })

  test('made current at once leave one of them current', async ({ world }) => {
    world.provider.setScript(['One.'])
    await world.ok(['run', 'first'])
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => world.run(['branch', '@', '--switch'])))
    for (const { exitCode, stderr } of outcomes) expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    const { current, branches } = await world.json(['branches'])
    expect(outcomes.map(({ stdout }) => stdout.trim())).toContain(current)
    expect(branches).toHaveLength(5)
  })
})

describe.concurrent('an empty home', () => {
  test('takes twelve processes at once', async ({ world }) => {
    world.provider.setScript({ fallback: 'Done.' })
    const env = { CASS_HOME: join(world.folder, 'fresh') }
    const args = ['--base-url', world.provider.url, '--model', 'm', '--api-key-env', 'SCRIPTED_KEY']
    const runs = Array.from({ length: 12 }, (_, i) =>
      world.run(['run', '--json', ...args, `task ${i}`], { env }),
    )
    const outcomes = await Promise.all(runs)
    expect(outcomes.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      outcomes.map(() => ({ exitCode: 0, stderr: '' })),
    )
    const ids = outcomes.map(({ stdout }) => checkedEvents(stdout)[0]?.chat_id)
    expect(new Set(ids).size).toBe(12)
    const { chats } = await world.json(['chats'], { env })
    expect(chats.map(({ chat_id: id }: { chat_id: string }) => id).toSorted()).toEqual(ids.toSorted())
    expect(await world.json(['fsck'], { env })).toMatchObject({
      findings: [],
      checked: { conversations: 12 },
    })
    expect(ids).toContain((await world.json(['branches'], { env })).current)
  })
})
