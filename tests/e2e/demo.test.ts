import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { checkedEvents } from './_events.ts'
import { everythingIn, test, type World } from './_world.ts'

/** All that belongs to the user; the scratch folder is somewhere else. */
const belongings = (world: World) =>
  [world.home, world.cassHome, world.workspace].map((folder) => everythingIn(folder))

function scratch(world: World): Record<string, string> {
  const folder = join(world.folder, 'scratch')
  mkdirSync(folder)
  return { TMPDIR: folder }
}

describe.concurrent('without a terminal', () => {
  test('cass demo runs the whole tour, and touches nothing of the user', async ({ world }) => {
    const before = belongings(world)
    const { exitCode, stdout, stderr } = await world.run(['demo'], { env: scratch(world) })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    for (const command of ['run --demo', 'checkpoints', 'branch ', 'branches', 'show '])
      expect(stdout).toContain(`$ cass ${command}`)
    expect(stdout).toMatch(/cass setup/)
    expect(stdout).not.toContain('\u001b')
    expect(belongings(world)).toEqual(before)
    expect(world.provider.requests).toEqual([])
    expect(readdirSync(join(world.folder, 'scratch'))).toHaveLength(1)
  })

  test('what the tour shows can be typed in its folder, with CASS_HOME as it says', async ({ world }) => {
    const env = scratch(world)
    const { stdout } = await world.run(['demo'], { env })
    const [, cwd = ''] = /^ {2}cd (.*)$/m.exec(stdout) ?? []
    const [, CASS_HOME = ''] = /^ {2}export CASS_HOME=(.*)$/m.exec(stdout) ?? []
    const there = { cwd, env: { ...env, CASS_HOME } }
    const lines = stdout.split('\n').filter((line) => line.startsWith('$ cass ') && !line.includes('--name'))
    expect(lines.length).toBeGreaterThan(5)
    for (const line of lines) {
      const words = (line.slice(7).match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
      expect({ line, ...(await world.run(words, there)) }).toMatchObject({ line, exitCode: 0 })
    }
    // Only its first turn begins a chat, and that in a folder of its own.
    expect(readdirSync(join(world.folder, 'scratch'))).toHaveLength(2)
  })

  test('a demo that was stopped says how to go on, and where', async ({ world }) => {
    const env = scratch(world)
    const { exitCode, stderr } = await world.run(['run', '--demo', '--max-steps', '1', 'fix the test'], {
      env,
    })
    expect(exitCode).toBe(1)
    const [, cwd = '', chat = ''] = /`cd (\S+) && cass run --demo --branch (\S+)`/.exec(stderr) ?? []
    const next = await world.run(['run', '--demo', '--branch', chat], { cwd, env })
    expect(next).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('src/basket.js') })
  })

  test('run --demo works in a scratch folder, and says that it is a demo', async ({ world }) => {
    const before = belongings(world)
    const env = scratch(world)
    const { exitCode, stdout, stderr } = await world.run(['run', '--demo', 'fix the test'], { env })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/demo/i)
    expect(stdout).toContain('cass setup')
    expect(stderr).toContain('demo: working on a sample project in')
    const events = checkedEvents((await world.run(['run', '--demo', '--json', 'x'], { env })).stdout)
    expect(events.at(-1)).toMatchObject({ stop_reason: 'stop' })
    expect(belongings(world)).toEqual(before)
    expect(world.provider.requests).toEqual([])
  })

  test.for([[], ['chat'], ['chat', '--continue'], ['chat', '--demo'], ['--resume', 'x']])(
    'cass %j is no chat, and names cass run',
    async (args, { world }) => {
      const before = belongings(world)
      const { exitCode, stdout, stderr } = await world.run(args)
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
      expect(stderr).toMatch(/the chat needs a terminal\nhint: .*`cass run`/)
      const json = await world.run(['--json', ...args])
      expect(JSON.parse(json.stdout).error.hint).toContain('cass run')
      expect(belongings(world)).toEqual(before)
    },
  )

  test('cass --resume lists the chats', async ({ world }) => {
    world.provider.setScript(['Hello.'])
    await world.ok(['run', 'hello'])
    expect(await world.ok(['--resume'])).toBe(await world.ok(['chats']))
  })
})
