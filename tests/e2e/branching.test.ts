import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test as plain } from 'vitest'
import { expectShape, forkedBranch } from './_shapes.ts'
import { call, endWorld, makeWorld, test, type World } from './_world.ts'

/** A conversation with two calls in one answer, and a turn behind it. */
async function converse(world: World): Promise<void> {
  const calls = ['one', 'two'].map((name) => ({
    ...{ id: `call_${name}`, name: 'write' },
    arguments: { path: `${name}.txt`, content: `${name}\n` },
  }))
  world.provider.setScript([{ text: 'Two files.', calls }, 'Both are there.', 'You are welcome.'])
  await world.ok(['run', 'write two files'])
  await world.ok(['run', '-c', 'thanks'])
}

const conversationFiles = (world: World) =>
  readdirSync(join(world.cassHome, 'conversations'))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => [name, readFileSync(join(world.cassHome, 'conversations', name), 'utf8')] as const)

describe('cass branch at', () => {
  // One conversation for all places: making a branch leaves its source as it is.
  let world: World
  let main: string
  let before: ReturnType<typeof conversationFiles>

  beforeAll(async () => {
    world = await makeWorld()
    await converse(world)
    main = await world.ok(['resolve', '@'])
    before = conversationFiles(world)
    world.provider.setScript({ fallback: 'Going on.' })
  }, 120_000)

  afterAll(async () => {
    await endWorld(world)
  })

  plain.concurrent.for<[string, string[]]>([
    ['1:start', ['go on']],
    ['2:user', ['write two files\n\ngo on']],
    ['3:assistant', ['write two files', 'Two files.', 'not run', 'not run']],
    ['3:tool_call:call_one', ['write two files', 'Two files.', 'not run', 'not run']],
    ['3:tool_call:call_two', ['write two files', 'Two files.', 'wrote', 'not run']],
    ['4:tool_result:call_one', ['write two files', 'Two files.', 'wrote', 'not run']],
    ['5:tool_result:call_two', ['write two files', 'Two files.', 'wrote', 'wrote']],
    ['6:assistant', ['write two files', 'Two files.', 'wrote', 'wrote', 'Both are there.', 'go on']],
    ['7:user', ['write two files', 'Two files.', 'wrote', 'wrote', 'Both are there.', 'thanks\n\ngo on']],
  ])('%s gives a branch that a strict provider takes', async ([place, expected]) => {
    const { exitCode, stdout, stderr } = await world.run(['branch', `${main}:${place}`, '--json'])
    expect(exitCode).toBe(0)
    const { repaired, ...branch } = JSON.parse(stdout)
    expectShape(branch, forkedBranch)
    expect(branch).toMatchObject({ kind: 'fork', parent: main, current: false, conversation: main })
    const notRun = expected.filter((text) => text === 'not run').length
    expect(repaired).toEqual(['call_one', 'call_two'].slice(2 - notRun))
    expect(stderr).toContain(`branched ${branch.chat_id} from ${main} at `)
    const prompt = `go on at ${place}`
    await world.ok(['run', '--branch', branch.chat_id, prompt])
    const body = world.bodies().find(({ messages }) => messages.at(-1).content.endsWith(prompt))
    for (const [i, text] of expected.entries()) expect(body.messages[i + 1].content).toContain(text)
    // The source stays byte for byte; its log only grows.
    const after = new Map(conversationFiles(world))
    for (const [name, text] of before) {
      if (name.endsWith('.events.jsonl')) expect(after.get(name)?.startsWith(text)).toBe(true)
      else expect(after.get(name)).toBe(text)
    }
  })
})

describe.concurrent('cass branch', () => {
  test('prints the chat id alone; --switch makes the branch current', async ({ world }) => {
    await converse(world)
    const main = await world.ok(['resolve', '@'])
    const fork = await world.ok(['branch', '@~1', '--name', 'retry', '--switch'])
    expect(fork).toMatch(/^\d{4}-\d\d-\d\d-\d{6}-[\w-]{4}$/)
    expect(await world.ok(['resolve', '@'])).toBe(fork)
    expect((await world.json(['branches'])).current).toBe(fork)
    expect(await world.json(['switch', main])).toEqual({ chat_id: main, previous: fork, files_differ: 0 })
    expect(await world.ok(['switch', 'retry'])).toBe(fork)
  })

  test('gives names, and keeps them apart', async ({ world }) => {
    await converse(world)
    const fork = await world.ok(['branch', '@~1', '--name', 'retry'])
    const renamed = await world.json(['branch', '--rename', 'retry', 'second'])
    expectShape(renamed, forkedBranch)
    expect(renamed).toMatchObject({ chat_id: fork, name: 'second' })
    for (const name of ['second', 'two words', '-x', 'a~1', '@', '', fork, 'x'.repeat(65)]) {
      const { exitCode, stdout } = await world.run(['branch', `--name=${name}`, '@'])
      expect({ name, exitCode, stdout }).toEqual({ name, exitCode: 2, stdout: '' })
    }
    expect((await world.json(['branches'])).branches).toHaveLength(2)
  })

  test('retires only what holds nothing of its own and has been left alone', async ({ world }) => {
    await converse(world)
    const main = await world.ok(['resolve', '@'])
    const fork = await world.ok(['branch', '@~1'])
    const codes = [main, fork].map(async (branch) => {
      const { exitCode, stdout } = await world.run(['branch', '--retire', branch, '--json'])
      return [exitCode, JSON.parse(stdout).error.code]
    })
    expect(await Promise.all(codes)).toEqual([
      [3, 'branch_not_empty'],
      [4, 'branch_busy'],
    ])
  })

  test('a retired branch is out of the lists, and nothing goes on with it', async ({ world }) => {
    await converse(world)
    const fork = await world.ok(['branch', '@~1', '--name', 'gone'])
    // As if nobody had been there for a long time.
    const log = join(world.cassHome, 'conversations', `${await world.ok(['resolve', '@'])}.events.jsonl`)
    writeFileSync(log, readFileSync(log, 'utf8').replaceAll(/"at":"\d{4}/g, '"at":"2020'))
    expect(await world.json(['branch', '--retire', fork])).toMatchObject({ chat_id: fork, retired: true })
    expect(await world.ok(['branch', '--retire', fork])).toBe(fork)
    expect((await world.json(['branches'])).branches).toHaveLength(1)
    expect((await world.json(['branches', '--retired'])).branches).toMatchObject([{}, { retired: true }])
    const outcomes = await Promise.all(
      [
        ['switch', fork],
        ['run', '--branch', fork, 'x'],
      ].map((args) => world.run(args)),
    )
    for (const { exitCode, stderr } of outcomes)
      expect({ exitCode, text: stderr }).toEqual({ exitCode: 3, text: expect.stringContaining('is retired') })
    expect(await world.ok(['branch', `${fork}:4`])).not.toBe(fork)
  })

  test('switch tells how many files differ, and changes none', async ({ world }) => {
    await converse(world)
    const main = await world.ok(['resolve', '@'])
    await world.ok(['branch', '@~2', '--switch'])
    const { exitCode, stdout, stderr } = await world.run(['switch', '--json', main])
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 0, files_differ: 0 })
    expect(stderr).toBe('')
    const start = await world.run(['switch', '--json', JSON.parse(stdout).previous])
    expect(JSON.parse(start.stdout).files_differ).toBe(2)
    expect(start.stderr).toContain('2 files differ')
    expect(readFileSync(join(world.workspace, 'one.txt'), 'utf8')).toBe('one\n')
  })

  test('an unanswered call is answered on the branch, also when a model answers it', async ({ world }) => {
    world.provider.setScript([call('ls', {}, 'call_ls'), 'Seen.', 'Once more.'])
    await world.ok(['run', 'look'])
    const fork = await world.ok(['branch', '@:3', '--name', 'before'])
    expect(await world.ok(['run', '--branch', fork, 'go on'])).toBe('Once more.')
    const roles = world
      .bodies()
      .at(-1)
      .messages.map(({ role }: { role: string }) => role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user'])
  })
})
