import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { program } from '../_cass.ts'
import { call, test, type World } from './_world.ts'

/** Runs a script with `cass` on its path, as a user's shell would. Only for scripts whose provider runs elsewhere. */
async function bash(world: World, script: string) {
  const bin = join(world.folder, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'cass'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  chmodSync(join(bin, 'cass'), 0o755)
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: world.workspace,
    env: { ...world.env, PATH: `${bin}:${world.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const exitCode = await new Promise((resolve) => child.on('close', resolve))
  return { exitCode, stdout, stderr }
}

const hasJq = spawnSync('jq', ['--version']).status === 0

describe.concurrent('scripts', () => {
  test('branch, switch and try again', async ({ world }) => {
    world.provider.setScript(['One.', 'Two.'])
    await world.ok(['run', 'first'])
    const script =
      'new=$(cass branch @~1 --name retry --switch) && cass run --branch "$new" "try again, without the refactor"'
    expect(await bash(world, script)).toMatchObject({ exitCode: 0, stdout: 'Two.\n' })
    expect(world.bodies()[1].messages.slice(1)).toEqual([
      { role: 'user', content: 'try again, without the refactor' },
    ])
  })

  test('user checkpoints through jq', async ({ world, skip }) => {
    skip(!hasJq, 'jq is not installed')
    world.provider.setScript(['One.', 'Two.'])
    await world.ok(['run', 'first'])
    await world.ok(['run', '-c', 'second'])
    const script = `cass checkpoints --json | jq -r '.checkpoints[] | select(.kind=="user") | .id'`
    const { stdout } = await bash(world, script)
    const main = await world.ok(['resolve', '@'])
    expect(stdout).toBe(`${main}:2:user\n${main}:4:user\n`)
  })

  test('tool calls through xargs -0', async ({ world }) => {
    world.provider.setScript([call('shell', { command: "printf 'a b'\necho c" }, 'call_a'), 'Done.'])
    await world.ok(['run', 'x'])
    const { stdout } = await bash(world, `cass checkpoints -z --kind tool_call | xargs -0 -n1 printf '%s\\n'`)
    expect(stdout.trimEnd().split('\t')).toEqual([
      `${await world.ok(['resolve', '@'])}:3:tool_call:call_a`,
      ...['tool_call', expect.anything(), 'tool call shell', "printf 'a b'"],
    ])
  })

  test('a list of tasks, each a chat of its own', async ({ world }) => {
    world.provider.setScript({ fallback: 'Done.' })
    writeFileSync(join(world.workspace, 'tasks.txt'), 'first task\nsecond "task"\n')
    const script = 'while read -r task; do cass run --new "$task" </dev/null; done < tasks.txt'
    expect(await bash(world, script)).toMatchObject({ exitCode: 0, stdout: 'Done.\nDone.\n' })
    expect((await world.json(['chats'])).chats.map(({ preview }: { preview: string }) => preview)).toEqual([
      ...['second "task"', 'first task'],
    ])
  })

  test('a folder that was deleted below the shell', async ({ world }) => {
    const gone = 'mkdir gone; cd gone; rmdir ../gone; '
    expect(await bash(world, `${gone} cass --version; cass --help | head -n 1`)).toMatchObject({
      exitCode: 0,
    })
    // What the shell says of its folder is its own.
    const { exitCode, stdout, stderr } = await bash(world, `${gone} cass log --json`)
    expect({ exitCode, code: JSON.parse(stdout).error.code }).toEqual({
      exitCode: 1,
      code: 'folder_not_found',
    })
    expect(stderr).not.toContain('    at ')
    const elsewhere = await bash(world, `${gone} cass chats --cwd '${world.workspace}' --json`)
    expect([elsewhere.exitCode, JSON.parse(elsewhere.stdout).chats]).toEqual([0, []])
  })

  test('a pipe in the place of a log, an index, or a transcript', async ({ world }) => {
    world.provider.setScript({ fallback: 'Done.' })
    await world.ok(['run', 'first'])
    const id = await world.ok(['resolve', '@'])
    const verbs = ['log', 'branches', 'chats', 'fsck', 'check', 'checkpoints', 'branch @', 'run -c x']
    for (const name of [`${id}.event-index.json`, `${id}.jsonl`, `${id}.events.jsonl`]) {
      const file = join(world.cassHome, 'conversations', name)
      const ends = verbs
        .map((verb) => `timeout 20 cass ${verb} >/dev/null 2>&1 || echo "$? ${verb}"`)
        .join('\n')
      const { stdout } = await bash(
        world,
        `mv '${file}' kept; mkfifo '${file}'\n${ends}\nrm '${file}'; mv kept '${file}'`,
      )
      // 124: it hung.
      expect(stdout).not.toMatch(/^124 /m)
      expect([name, stdout === '']).toEqual([name, !name.endsWith('.events.jsonl')])
    }
  })

  test('check in continuous integration', async ({ world }) => {
    expect(await bash(world, 'cass check --json || exit 1')).toMatchObject({ exitCode: 0 })
    writeFileSync(join(world.cassHome, 'models.json'), '{')
    const { exitCode, stdout } = await bash(world, 'cass check --json || exit 7')
    expect({ exitCode, ok: JSON.parse(stdout).ok }).toEqual({ exitCode: 7, ok: false })
  })

  test('a reader that goes away is no failure', async ({ world }) => {
    world.provider.setScript([{ text: 'line\n'.repeat(50_000) }])
    await world.ok(['run', 'x'])
    const { exitCode, stderr, stdout } = await bash(world, 'cass log | head -n 1; cass show @ | head -n 1')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^2 user/)
  })

  test('a reader that goes away in a turn ends the turn, not the chat', async ({ world }) => {
    world.provider.setScript([{ steps: [{ text: Array(50).fill('piece ') }, { act: 'stall' }] }])
    const { exitCode, stdout, stderr } = await bash(world, 'cass run --json x | head -n 1')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^\{"type":"session_started"/)
    const { records } = await world.json(['log'])
    expect(records.at(-1)).toMatchObject({ notice: 'cancelled' })
    expect((await world.json(['fsck'])).findings).toEqual([])
  })
})

describe.concurrent('the command line', () => {
  test('options stand before and after the sub-command alike', async ({ world }) => {
    world.provider.setScript(['One.'])
    await world.ok(['run', 'x'])
    const expected = await world.ok(['checkpoints', '--kind', 'user', '--json'])
    const orders = [
      ['--json', '--kind', 'user', 'checkpoints'],
      ['--kind=user', 'checkpoints', '--json'],
      ['--json', 'checkpoints', '--kind=user', '@'],
      ['--cwd', world.workspace, 'checkpoints', '--json', '--kind', 'user'],
    ]
    for (const args of orders) expect(await world.ok(args)).toBe(expected)
    const elsewhere = ['--cwd', 'workspace', 'checkpoints', '--json', '--kind', 'user']
    expect(await world.ok(elsewhere, { cwd: world.folder })).toBe(expected)
  })

  test.for([
    [['checkpoint'], "did you mean 'checkpoints'?"],
    [['brnach', '@'], "did you mean 'branch'?"],
    [['branches', '--jsn'], "did you mean '--json'?"],
    [['log', '-n', 'x'], '-n'],
    [['log', 'a', 'b'], 'b'],
    [['resolve'], 'see `cass resolve --help`'],
    [['log', '-z'], "'-z' does not fit 'log'"],
    [['branches', '--color', 'blue'], 'auto, always or never'],
    [['checkpoints', '--kind', 'thought'], "'thought' is no kind of checkpoint"],
  ] as const)('%j is a usage error that helps', async ([args, help], { world }) => {
    const { exitCode, stdout, stderr } = await world.run(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(help)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  test.for(['new\nline', 'tab\tand \\', 'emoji 🎉 é', '-leading', 'quote\'s "', '  blanks  '])(
    'a folder named %j works',
    async (name, { world }) => {
      const folder = join(world.workspace, name)
      mkdirSync(folder)
      world.provider.setScript([call('write', { path: 'a.txt', content: 'a' }), 'Done.'])
      expect(await world.ok(['run', 'x'], { cwd: folder })).toBe('Done.')
      expect(await world.ok([`--cwd=${name}`, 'checkpoints', '--kind', 'user'])).toContain(':2:user\t')
      expect((await world.json(['chats'], { cwd: folder })).chats).toMatchObject([{ workspace: folder }])
      expect((await world.json(['show', '@:4'], { cwd: folder })).changes).toMatchObject([
        { path: `${name}/a.txt` },
      ])
      expect((await world.json(['fsck'])).findings).toEqual([])
    },
  )

  test('colours only where they are wanted', async ({ world }) => {
    world.provider.setScript([{ text: 'safe \u001b[31mred\u0007' }])
    await world.ok(['run', 'x'])
    const escapes = async (args: string[], env: Record<string, string> = {}) =>
      (await world.ok([...args, 'log'], { env })).includes('\u001b[')
    expect(await escapes([])).toBe(false)
    expect(await escapes(['--color', 'always'])).toBe(true)
    expect(await escapes(['--color', 'never'], { FORCE_COLOR: '1' })).toBe(false)
    expect(await escapes([], { NO_COLOR: '1', FORCE_COLOR: '1' })).toBe(false)
    expect(await world.ok(['--color', 'always', 'log'])).not.toContain('\u001b[31mred')
  })

  test('--quiet silences notes and no error', async ({ world }) => {
    expect(await world.run(['-q', 'chats'])).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect((await world.run(['-q', 'log'])).stderr).toMatch(/^error: /)
    world.provider.setScript(['One.'])
    expect(await world.run(['run', '--quiet', 'x'])).toEqual({ exitCode: 0, stdout: 'One.\n', stderr: '' })
  })

  test('before the first chat, lists are empty and the rest says how to begin', async ({ world }) => {
    expect(await world.json(['chats'])).toMatchObject({ chats: [] })
    expect(await world.json(['branches'])).toMatchObject({ current: null, branches: [] })
    for (const command of ['log', 'checkpoints', 'resolve', 'show', 'switch', 'branch']) {
      const args = ['resolve', 'show', 'switch', 'branch'].includes(command) ? [command, '@'] : [command]
      const { exitCode, stdout } = await world.run([...args, '--json'])
      expect({ command, exitCode, code: JSON.parse(stdout).error.code }).toEqual({
        ...{ command, exitCode: 1, code: 'no_current_branch' },
      })
    }
  })

  test('a bug report can have a stack', async ({ world }) => {
    const { stderr } = await world.run(['log'], { env: { CASS_DEBUG: '1' } })
    expect(stderr).toMatch(/^error: .*\n[\s\S]*\n\s+at /)
  })
})
