import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { program } from '../_cass.ts'
import { call, everythingIn, test, type World } from './_world.ts'

// Root may do everything, unless it gives that right up first.
const isRoot = process.getuid?.() === 0
const giveUp = ['setpriv', '--bounding-set=-all', '--inh-caps=-all']
const prefix = isRoot ? giveUp : []
const isReady =
  process.platform !== 'win32' &&
  (!isRoot || spawnSync(giveUp[0]!, [...giveUp.slice(1), 'true']).status === 0)

/** Runs the program as somebody whom permissions bind. */
async function run(world: World, args: string[]) {
  const [command = '', ...rest] = [...prefix, process.execPath, program, ...args]
  const child = spawn(command, rest, {
    cwd: world.workspace,
    env: world.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const exitCode = await new Promise((resolve) => child.on('close', resolve))
  expect(stderr).not.toMatch(/unexpected|\n\s+at /)
  return { exitCode, stdout, stderr }
}

/** Takes the rights of a path away while `work` runs. */
async function without(path: string, mode: number, work: () => Promise<void>): Promise<void> {
  const { mode: before } = statSync(path)
  chmodSync(path, mode)
  try {
    await work()
  } finally {
    chmodSync(path, before & 0o777)
  }
}

async function begin(world: World): Promise<string> {
  world.provider.setScript({ fallback: 'Fine.' })
  await world.ok(['run', 'hello'])
  return world.ok(['resolve', '@'])
}

describe.concurrent('without the permission', () => {
  test('to write in its home, nothing runs, everything can be read, and nothing is lost', async ({
    world,
    skip,
  }) => {
    skip(!isReady, 'root cannot give up its rights here')
    const main = await begin(world)
    const before = everythingIn(world.cassHome)
    const folders = ['conversations', 'locks/writers', 'heads', '.'].map((name) => join(world.cassHome, name))
    for (const folder of folders) chmodSync(folder, 0o500)
    const failed = await run(world, ['run', '-c', 'x'])
    expect({ exitCode: failed.exitCode, stdout: failed.stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(failed.stderr).toContain('EACCES')
    expect(failed.stderr).toContain(world.cassHome)
    expect(failed.stderr).toMatch(/hint: /)
    for (const args of [['log'], ['chats'], ['branches'], ['checkpoints'], ['show', '@'], ['fsck']])
      expect({ args, exitCode: (await run(world, args)).exitCode }).toEqual({ args, exitCode: 0 })
    expect((await run(world, ['branch', '@'])).exitCode).toBe(1)
    const check = await run(world, ['check'])
    expect(check).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('✗') })
    for (const folder of folders) chmodSync(folder, 0o700)
    expect(everythingIn(world.cassHome)).toBe(before)
    expect(await world.ok(['run', '--branch', main, 'again'])).toBe('Fine.')
  })

  test('to read a log or the folder of all logs, the error names it', async ({ world, skip }) => {
    skip(!isReady, 'root cannot give up its rights here')
    const main = await begin(world)
    const folder = join(world.cassHome, 'conversations')
    for (const [path, mode] of [
      [join(folder, `${main}.events.jsonl`), 0o000],
      [folder, 0o000],
    ] as const) {
      await without(path, mode, async () => {
        for (const args of [['log'], ['run', '-c', 'x'], ['checkpoints']]) {
          const { exitCode, stdout, stderr } = await run(world, args)
          expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 1, stdout: '' })
          expect(stderr).toContain('EACCES')
          expect(stderr).toContain(folder)
        }
      })
      expect(await world.ok(['run', '-c', 'again'])).toBe('Fine.')
    }
    await without(join(folder, `${main}.events.jsonl`), 0o000, async () => {
      expect((await run(world, ['fsck'])).exitCode).toBe(3)
      const listed = await run(world, ['chats'])
      expect({ exitCode: listed.exitCode, stdout: listed.stdout }).toEqual({ exitCode: 0, stdout: '' })
      expect(listed.stderr).toContain(main)
    })
  })

  test('to read its configuration, a run says so and check tells what to do', async ({ world, skip }) => {
    skip(!isReady, 'root cannot give up its rights here')
    const path = join(world.cassHome, 'providers.json')
    await without(path, 0o000, async () => {
      const { exitCode, stderr } = await run(world, ['run', 'x'])
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(/providers\.json.*EACCES/)
      expect((await run(world, ['check'])).exitCode).toBe(1)
    })
    expect(world.bodies()).toEqual([])
  })

  test('to write in the project, the tool fails, and the turn goes on', async ({ world, skip }) => {
    skip(!isReady, 'root cannot give up its rights here')
    const folder = join(world.workspace, 'locked')
    mkdirSync(folder)
    world.provider.setScript([
      call('write', { path: 'locked/new.txt', content: 'x' }),
      'It cannot be written.',
    ])
    await without(folder, 0o500, async () => {
      expect(await run(world, ['run', 'x'])).toMatchObject({ exitCode: 0, stdout: 'It cannot be written.\n' })
    })
    const { content } = world.bodies()[1].messages.at(-1)
    expect(content).toMatch(/EACCES|permission denied/i)
    expect(content).toContain('locked')
    expect(readdirSync(folder)).toEqual([])
    expect((await world.json(['fsck'])).findings).toEqual([])
    expect(
      (await world.json(['check'])).findings.filter(({ code }: { code: string }) =>
        code.startsWith('journal'),
      ),
    ).toEqual([])
  })

  test('to keep the bytes of a file, it is not changed', async ({ world, skip }) => {
    skip(!isReady, 'root cannot give up its rights here')
    await begin(world)
    const store = join(world.cassHome, 'file-snapshots')
    if (!existsSync(store)) mkdirSync(store, { mode: 0o700 })
    world.provider.setScript([call('write', { path: 'src/money.js', content: 'x' }), 'Not written.'])
    await without(store, 0o500, async () => {
      expect(await run(world, ['run', 'x'])).toMatchObject({ exitCode: 0, stdout: 'Not written.\n' })
    })
    const { content } = world.bodies().at(-1).messages.at(-1)
    expect(content).toMatch(/EACCES|permission denied/i)
    expect(await world.json(['fsck'])).toMatchObject({ findings: [] })
  })
})
