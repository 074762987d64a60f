import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type Outcome, program } from '../_cass.ts'
import { call, test, type World } from '../e2e/_world.ts'
import { canCall } from './_tmux.ts'

/** Runs a bash script in a world, where `cass` is on PATH as an installation puts it there. */
async function bash(world: World, script: string): Promise<Outcome> {
  const bin = join(world.folder, 'bin')
  mkdirSync(bin, { recursive: true })
  if (!existsSync(join(bin, 'cass'))) symlinkSync(program, join(bin, 'cass'))
  const env = { ...world.env, PATH: `${bin}:${join(process.execPath, '..')}:${world.env.PATH}` }
  const child = spawn('bash', ['-c', script], {
    cwd: world.workspace,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => chunks[name].push(chunk))
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const text = (name: 'stdout' | 'stderr') => Buffer.concat(chunks[name]).toString('utf8')
  return { exitCode, stdout: text('stdout'), stderr: text('stderr') }
}

describe.skipIf(process.platform === 'win32').concurrent('the scripts that the contract promises', () => {
  test('a new branch before the last turn, and a turn on it', async ({ world }) => {
    world.provider.setScript(['One.', 'Two.', 'Another way.'])
    await world.ok(['run', 'first'])
    await world.ok(['run', '--continue', 'second'])
    const script =
      'new=$(cass branch @~1 --name retry --switch) && cass run --branch "$new" "try again, without the refactor"'
    const { exitCode, stdout } = await bash(world, script)
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Another way.\n' })
    expect(
      world
        .bodies()
        .at(-1)
        ?.messages.map(({ content }: { content: string }) => content)
        .slice(1),
    ).toEqual([...['first', 'One.', 'try again, without the refactor']])
    expect((await world.json(['branches'])).branches).toMatchObject([
      { name: null },
      { name: 'retry', current: true },
    ])
  })

  test.skipIf(!canCall('jq'))('the ids of the user messages through jq', async ({ world }) => {
    world.provider.setScript(['One.', 'Two.'])
    await world.ok(['run', 'first'])
    await world.ok(['run', '--continue', 'second'])
    const { exitCode, stdout } = await bash(
      world,
      `cass checkpoints --json | jq -r '.checkpoints[] | select(.kind=="user") | .id'`,
    )
    expect(exitCode).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((id) => id.split(':').slice(1).join(':')),
    ).toEqual(['2:user', '4:user'])
  })

  test('rows of tool calls through xargs', async ({ world }) => {
    world.provider.setScript([call('ls', { path: '.' }), 'Done.'])
    await world.ok(['run', 'look'])
    const { stdout } = await bash(world, "cass checkpoints -z --kind tool_call | xargs -0 -n1 printf '%s\\n'")
    expect(stdout.split('\n')).toHaveLength(2)
    expect(stdout).toMatch(/^\S+:3:tool_call:\S+\ttool_call\t\S+\ttool call ls\t/)
  })

  test('a turn for each line of a file', async ({ world }) => {
    world.provider.setScript(['One.', 'Two.'])
    writeFileSync(join(world.workspace, 'tasks.txt'), 'first task\nsecond task\n')
    const script = 'while read -r task; do cass run --new "$task" </dev/null; done < tasks.txt'
    expect(await bash(world, script)).toMatchObject({ exitCode: 0, stdout: 'One.\nTwo.\n' })
    expect((await world.json(['chats'])).chats.map(({ preview }: { preview: string }) => preview)).toEqual([
      ...['second task', 'first task'],
    ])
  })

  test('a check that stops a script when something is wrong', async ({ world }) => {
    expect((await bash(world, 'cass check --json >/dev/null || exit 1')).exitCode).toBe(0)
    writeFileSync(join(world.cassHome, 'config.json'), '{"default_provider": 7}')
    expect((await bash(world, 'cass check --json >/dev/null || exit 1')).exitCode).toBe(1)
  })
})

describe.skipIf(process.platform === 'win32').concurrent('a reader that goes away', () => {
  test('ends plumbing quietly', async ({ world }) => {
    world.provider.setScript(['a line of the answer\n'.repeat(60_000)])
    await world.ok(['run', 'talk'])
    for (const command of ['show @', 'log', 'show @ --json']) {
      const outcome = await bash(world, `cass ${command} | head -c 10 >/dev/null; echo "\${PIPESTATUS[0]}"`)
      expect(outcome, command).toEqual({ exitCode: 0, stdout: '0\n', stderr: '' })
    }
  })

  test('ends a turn as cancelled, completely', async ({ world }) => {
    const words = Array.from({ length: 5000 }, () => 'word '.repeat(20))
    world.provider.setScript([call('ls', { path: '.' }), { steps: [{ text: words }, { act: 'stall' }] }])
    const outcome = await bash(world, `cass run --json look | head -n 1 >/dev/null; echo "\${PIPESTATUS[0]}"`)
    expect(outcome).toMatchObject({ exitCode: 0, stdout: '0\n' })
    expect((await world.json(['fsck'])).findings).toEqual([])
    expect((await world.json(['branches'])).branches).toMatchObject([{ open_turn: false }])
    expect((await world.json(['log'])).records.at(-1)).toMatchObject({ notice: 'cancelled' })
  })
})
