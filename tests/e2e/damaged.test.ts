import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { everythingIn, parseEvents, test, type World } from './_world.ts'

async function begin(world: World): Promise<string> {
  world.provider.setScript({ fallback: 'Fine.' })
  await world.ok(['run', 'hello'])
  return world.ok(['resolve', '@'])
}

const conversationFile = (world: World, name: string) => join(world.cassHome, 'conversations', name)

/** The error of a command that must fail, as scripts see it. */
async function errorOf(world: World, args: string[]) {
  const { exitCode, stdout } = await world.run([...args, '--json'])
  const { error } = JSON.parse(stdout)
  expect(error).toEqual({ code: expect.any(String), message: expect.any(String), hint: expect.any(String) })
  expect(error.code).not.toBe('internal_error')
  return { exitCode, code: error.code as string, message: error.message as string }
}

/** The same as people see it. */
async function errorTextOf(world: World, args: string[]): Promise<string> {
  const { stdout, stderr } = await world.run(args)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/(^|\n)error: .*\nhint: /)
  expect(stderr).not.toMatch(/unexpected|\n\s+at /)
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(3)
  return stderr
}

describe.concurrent('a damaged configuration', () => {
  const broken = [
    '{"providers": [',
    '',
    'null',
    '\u0000\u0001',
    '{"providers": 1, "models": 1, "retries": "x"}',
  ]
  test.for(['config.json', 'providers.json', 'models.json', 'settings.json'])(
    '%s that does not parse stops a run, names the file, and is left alone',
    async (name, { world }) => {
      const path = join(world.cassHome, name)
      const sound = name === 'settings.json' ? '{}' : readFileSync(path, 'utf8')
      for (const text of broken) {
        writeFileSync(path, text)
        const error = await errorOf(world, ['run', 'x'])
        // An object with fields that the file does not know is another fault, and one that settings.json only warns of.
        expect({ text, ...error }).toMatchObject({ text, exitCode: 1, code: 'config_invalid' })
        expect(error.message).toContain(name)
        expect(readFileSync(path, 'utf8')).toBe(text)
      }
      const check = await world.run(['check', '--json'])
      expect(check.exitCode).toBe(1)
      const { findings } = JSON.parse(check.stdout)
      expect(
        findings.some(
          (one: { severity: string; subject: string }) =>
            one.severity === 'error' && one.subject.startsWith(name),
        ),
      ).toBe(true)
      expect(await errorTextOf(world, ['run', 'x'])).toContain(name)
      writeFileSync(path, sound)
      world.provider.setScript(['Fine.'])
      expect(await world.ok(['run', 'x'])).toBe('Fine.')
      expect(world.bodies()).toHaveLength(1)
    },
  )

  test('conversations can be looked at all the same', async ({ world }) => {
    const main = await begin(world)
    for (const name of ['config.json', 'providers.json', 'models.json', 'settings.json'])
      writeFileSync(join(world.cassHome, name), '{')
    expect(await world.ok(['resolve', '@'])).toBe(main)
    expect(await world.ok(['log'])).toContain('hello')
  })

  test('a global.md that cannot be read stops a run', async ({ world }) => {
    const path = join(world.cassHome, 'global.md')
    mkdirSync(path)
    expect(await errorOf(world, ['run', 'x'])).toMatchObject({
      exitCode: 1,
      code: 'global_instructions_unreadable',
    })
    rmSync(path, { recursive: true })
    // A pipe that nobody writes to would be waited for without an end.
    execFileSync('mkfifo', [path])
    expect(await errorOf(world, ['run', 'x'])).toMatchObject({ code: 'global_instructions_unreadable' })
    rmSync(path)
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]))
    expect(await errorOf(world, ['run', 'x'])).toMatchObject({ code: 'global_instructions_unreadable' })
    expect(everythingIn(world.cassHome)).not.toContain('.events.jsonl')
    writeFileSync(path, 'Answer in rhymes.')
    world.provider.setScript(['Fine.'])
    await world.ok(['run', 'x'])
    expect(world.bodies()[0].messages[0].content).toContain('Answer in rhymes.')
  })

  test('a home that is a file is named', async ({ world }) => {
    const home = join(world.folder, 'file')
    writeFileSync(home, 'x')
    for (const args of [['run', 'x'], ['log'], ['chats'], ['fsck'], ['branches']]) {
      const { exitCode, stderr } = await world.run(args, { env: { CASS_HOME: home } })
      expect({ args, exitCode }).toEqual({ args, exitCode: 1 })
      if (args[0] !== 'run') expect(stderr).toContain(home)
    }
    const env = { CASS_HOME: home, TMPDIR: world.folder }
    expect((await world.run(['run', '--demo', 'x'], { env })).exitCode).toBe(0)
  })
})

describe.concurrent('ids from outside', () => {
  const ids = [
    'nothing',
    '../../etc/passwd',
    '..',
    'a/../b',
    'a\u0007b',
    '2026-01-01-000000-abcd',
    'x'.repeat(5000),
  ]
  test.for([
    ['log'],
    ['checkpoints'],
    ['resolve'],
    ['switch'],
    ['branch'],
    ['show'],
    ['run', 'x', '--branch'],
    ['fsck'],
  ])('%j refuses them, and touches nothing', async (args, { world }) => {
    await begin(world)
    const before = everythingIn(world.folder)
    for (const id of ids) {
      const { exitCode, message } = await errorOf(world, [...args, id])
      expect({ id, failed: exitCode === 1 || exitCode === 2, message }).toMatchObject({ id, failed: true })
    }
    expect(everythingIn(world.folder)).toBe(before)
  })

  test.for([
    ['@:99', 1],
    ['@~99', 1],
    ['@:x', 1],
    ['^ZZZZ', 1],
    ['@~', 1],
    ['@:3:tool_call:call_x', 1],
    ['@:3:user', 1],
  ] as const)('the selector %s fails', async ([spec], { world }) => {
    await begin(world)
    expect([1, 2]).toContain((await errorOf(world, ['resolve', spec])).exitCode)
    expect([1, 2]).toContain((await errorOf(world, ['branch', spec])).exitCode)
  })
})

const telepathy = JSON.stringify({
  ...{ schema_version: 2, type: 'telepathy', head: 'main', writer: 'vm-1-0123456789abcdef' },
  at: '2026-06-25T10:15:33.000Z',
})

describe.concurrent('a damaged conversation', () => {
  test('without a byte in its log is an error of its own; the others go on', async ({ world }) => {
    const main = await begin(world)
    await world.ok(['run', 'another'])
    const log = conversationFile(world, `${main}.events.jsonl`)
    writeFileSync(log, '')
    expect(await errorOf(world, ['log', main])).toMatchObject({ exitCode: 1, code: 'conversation_empty' })
    expect(await errorOf(world, ['run', '--branch', main, 'x'])).toMatchObject({ code: 'conversation_empty' })
    expect(readFileSync(log, 'utf8')).toBe('')
    const { exitCode, stdout, stderr } = await world.run(['chats', '--json'])
    expect({ exitCode, chats: JSON.parse(stdout).chats.length }).toEqual({ exitCode: 0, chats: 1 })
    expect(stderr).toContain(main)
    expect((await world.run(['fsck'])).exitCode).toBe(3)
    expect(await world.ok(['run', '-c', 'go on'])).toBe('Fine.')
  })

  test.for([
    ['schema', (text: string) => text.replaceAll('"schema_version":2', '"schema_version":3')],
    ['entry type', (text: string) => `${text}${telepathy}\n`],
  ] as const)('of another %s is refused, untouched', async ([, change], { world }) => {
    const main = await begin(world)
    const log = conversationFile(world, `${main}.events.jsonl`)
    const changed = change(readFileSync(log, 'utf8'))
    expect(changed).not.toBe(readFileSync(log, 'utf8'))
    writeFileSync(log, changed)
    for (const args of [['log'], ['run', '-c', 'x'], ['branch', '@'], ['checkpoints']])
      expect((await errorOf(world, args)).exitCode).toBe(1)
    expect((await world.run(['fsck'])).exitCode).toBe(3)
    expect(readFileSync(log, 'utf8')).toBe(changed)
  })

  test('with a hole in its log loses that line alone', async ({ world }) => {
    const main = await begin(world)
    await world.ok(['run', '-c', 'second'])
    const log = conversationFile(world, `${main}.events.jsonl`)
    const lines = readFileSync(log, 'utf8').split('\n')
    const at = lines.findIndex((line) => line.includes('"second"'))
    lines[at] = lines[at]!.slice(0, -5)
    writeFileSync(log, lines.join('\n'))
    const text = await world.ok(['log'])
    expect(text).toContain('hello')
    const report = await world.run(['fsck', '-z'])
    expect(report.exitCode).toBe(3)
    const codes = report.stdout.split('\0').map((row) => row.split('\t').slice(0, 3))
    expect(codes).toEqual([['damage', 'log_hole', main], ['damage', 'log_gap', main], ['']])
    expect(await world.ok(['run', '-c', 'third'])).toBe('Fine.')
    expect(readFileSync(log, 'utf8')).toContain(lines[at])
  })

  test('whose index, heads file and transcript are garbage or gone is read from its log', async ({
    world,
  }) => {
    const main = await begin(world)
    const before = await world.json(['log'])
    const transcript = readFileSync(conversationFile(world, `${main}.jsonl`), 'utf8')
    for (const garbage of ['', '{', '{"schema_version":2}', '[]', '\u0000'.repeat(100)]) {
      writeFileSync(conversationFile(world, `${main}.event-index.json`), garbage)
      expect(await world.json(['log'])).toEqual(before)
      expect((await world.json(['branches', '--all'])).branches).toHaveLength(1)
    }
    rmSync(conversationFile(world, `${main}.jsonl`))
    expect(await world.ok(['run', '-c', 'go on'])).toBe('Fine.')
    expect(readFileSync(conversationFile(world, `${main}.jsonl`), 'utf8').startsWith(transcript)).toBe(true)
    const [head] = readdirSync(join(world.cassHome, 'heads'))
    writeFileSync(join(world.cassHome, 'heads', head!), 'garbage')
    const file = join(world.cassHome, 'heads', head!)
    for (const args of [['log'], ['run', '-c', 'x'], ['branches'], ['branch', '@:2'], ['switch', '@']]) {
      const { exitCode, code, message } = await errorOf(world, args)
      expect({ args, exitCode, code }).toEqual({ args, exitCode: 1, code: 'current_branch_unreadable' })
      expect(message).toContain(file)
    }
    expect(await errorTextOf(world, ['log'])).toContain('cass switch BRANCH')
    expect(await world.ok(['chats'])).toContain(main)
    expect(await world.ok(['branches', '--all'])).toContain(main)
    expect(readFileSync(file, 'utf8')).toBe('garbage')
    expect(await world.ok(['switch', main])).toBe(main)
    expect(await world.ok(['run', '-c', 'go on'])).toBe('Fine.')
    writeFileSync(file, 'garbage')
    expect(await world.ok(['run', 'a new chat'])).toBe('Fine.')
    expect(await world.ok(['resolve', '@'])).not.toBe(main)
  })

  test('whose transcript became garbage keeps that aside, with a note and no warning', async ({ world }) => {
    const main = await begin(world)
    writeFileSync(conversationFile(world, `${main}.jsonl`), 'garbage\n')
    const findings = async () =>
      (await world.json(['fsck'])).findings.map((finding: Record<string, string>) => [
        finding.severity,
        finding.code,
        finding.subject,
      ])
    expect(await findings()).toEqual([['note', 'transcript_foreign', main]])
    const { stdout } = await world.run(['run', '-c', '--json', 'go on'])
    const kept = parseEvents(stdout).find(({ code }) => code === 'transcript_kept')?.chat_id
    expect(readFileSync(conversationFile(world, `${kept}.jsonl`), 'utf8')).toMatch(/\ngarbage\n$/)
    expect(await findings()).toEqual([['note', 'chat_without_messages', kept]])
    for (const command of ['chats', 'branches']) {
      const { exitCode, stdout: rows, stderr } = await world.run([command])
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(rows).toContain(main)
      expect(rows).not.toContain(kept)
      expect((await world.json([command])).unreadable).toEqual([])
    }
    expect(await errorOf(world, ['log', kept])).toMatchObject({ exitCode: 1, code: 'conversation_empty' })
  })

  test('whose transcript was edited by hand keeps the edit as a chat of its own', async ({ world }) => {
    const main = await begin(world)
    const path = conversationFile(world, `${main}.jsonl`)
    const edited = readFileSync(path, 'utf8').replace('hello', 'HELLO')
    writeFileSync(path, edited)
    const { stdout } = await world.run(['run', '-c', '--json', 'go on'])
    const notice = parseEvents(stdout).find(({ code }) => code === 'transcript_kept')
    expect(notice?.chat_id).not.toBe(main)
    expect(await world.ok(['log', notice?.chat_id])).toContain('HELLO')
    expect(await world.ok(['log', main])).not.toContain('HELLO')
    expect(readFileSync(path, 'utf8')).toContain('go on')
  })

  test('whose folder is a file, or leads nowhere, is named', async ({ world }) => {
    const folder = join(world.cassHome, 'conversations')
    writeFileSync(folder, 'x')
    for (const args of [['chats'], ['fsck'], ['run', 'x']])
      expect((await errorOf(world, args)).message).toContain(folder)
    rmSync(folder)
    symlinkSync(join(world.folder, 'nowhere'), folder)
    expect((await errorOf(world, ['run', 'x'])).exitCode).toBe(1)
    rmSync(folder)
    world.provider.setScript(['Fine.'])
    expect(await world.ok(['run', 'x'])).toBe('Fine.')
  })
})
