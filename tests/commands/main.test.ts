import { describe, expect, it } from 'vitest'
import { helpText } from '../../commands/helpText.ts'
import { laterCommands } from '../../commands/later.ts'
import { manifest } from '../../commands/manifest.ts'
import { runHere } from './_run.ts'

describe('a command line', () => {
  it.each([[['--version']], [['-V']], [['branches', '--version']]])('%j prints the version', async (argv) => {
    expect(await runHere(argv)).toEqual({ exitCode: 0, stdout: 'cass 0.0.0-unbuilt\n', stderr: '' })
  })

  it.each([[['--help']], [['-h']], [['help']]])('%j prints the help', async (argv) => {
    expect(await runHere(argv)).toEqual({ exitCode: 0, stdout: `${helpText}\n`, stderr: '' })
  })

  it.each([
    [['--help', '--json'], { help: helpText }],
    [['help', '--json'], { help: helpText }],
    [['--json', 'run', '-h'], { help: expect.stringContaining('$ cass run') }],
    [['-V', '--json'], { version: '0.0.0-unbuilt' }],
    [['log', '--json', '--version'], { version: '0.0.0-unbuilt' }],
  ])('%j prints one JSON document', async (argv, expected) => {
    const { exitCode, stdout, stderr } = await runHere(argv)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual(expected)
  })

  it.each([[['--help']], [['run', '--help']], [['-V']]])('%j needs no folder', async (argv) => {
    expect(await runHere(argv, { cwd: null })).toEqual(await runHere(argv))
  })

  it.each([
    ['log'],
    ['branches'],
    ['chats'],
    ['fsck'],
    ['run', 'x'],
    ['switch', 'x'],
    ['resolve', '@'],
    ['log', '--cwd', 'relative'],
  ])('%s %s %s in a folder that is gone says so', async (...argv) => {
    const message = 'the folder that you are in is not there any more'
    const hint = 'go to another one, or give one with --cwd'
    const words = argv.filter((word) => word !== undefined)
    expect(await runHere(words, { cwd: null })).toEqual({
      ...{ exitCode: 1, stdout: '', stderr: `error: ${message}\nhint: ${hint}\n` },
    })
    const { exitCode, stdout } = await runHere([...words, '--json'], { cwd: null })
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toEqual({ error: { code: 'folder_not_found', message, hint } })
  })

  it('works in the folder of --cwd when its own is gone', async () => {
    const argv = ['chats', '--json', '--cwd', '/']
    expect(await runHere(argv, { cwd: null })).toEqual(await runHere(argv))
  })

  it.each([[['run', '--help']], [['-h', 'run']], [['help', 'run']]])(
    '%j prints the usage of run',
    async (argv) => {
      const { exitCode, stdout, stderr } = await runHere(argv, { env: { TERM: 'xterm-256color' } })
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(stdout).toContain('$ cass run [PROMPT…]')
      expect(stdout).toContain('--max-steps N')
      expect(stdout).not.toContain('\u001b')
    },
  )

  it('without a command is a chat, which needs a terminal', async () => {
    expect(await runHere([])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: the chat needs a terminal\nhint: use `cass run` in scripts and pipes\n',
    })
  })
})

describe('a usage error', () => {
  const cases: ReadonlyArray<readonly [string[], string]> = [
    [['brnaches'], "error: unknown command 'brnaches'\nhint: did you mean 'branches'?\n"],
    [
      ['explain this code'],
      `error: unknown command 'explain this code'\nhint: to say it to the agent: cass run "explain this code"\n`,
    ],
    [
      ['toString'],
      "error: unknown command 'toString'\nhint: see `cass --help`, or say it to the agent with `cass run`\n",
    ],
    [
      ['help', 'nothing-like-it'],
      "error: unknown command 'nothing-like-it'\nhint: see `cass --help`, or say it to the agent with `cass run`\n",
    ],
    [['branches', '--frobnicate'], "error: unknown option '--frobnicate'\nhint: see `cass --help`\n"],
    [
      ['branches', '--oneline'],
      "error: option '--oneline' does not fit 'branches'\nhint: see `cass branches --help`\n",
    ],
    [['branches', 'extra'], "error: unexpected 'extra'\nhint: see `cass branches --help`\n"],
    [['switch'], "error: 'BRANCH' is missing\nhint: see `cass switch --help`\n"],
    [['branch'], "error: 'CHECKPOINT' is missing\nhint: see `cass branch --help`\n"],
    [['branch', 'a', 'b'], "error: unexpected 'b'\nhint: see `cass branch --help`\n"],
    [['branch', '--rename', 'a'], "error: 'NAME' is missing\nhint: see `cass branch --help`\n"],
    [
      ['branch', '--rename', '--retire', 'a'],
      "error: '--rename' and '--retire' exclude each other\nhint: see `cass --help`\n",
    ],
    [
      ['run', '--new', '--continue', 'x'],
      "error: '--continue' and '--new' exclude each other\nhint: see `cass --help`\n",
    ],
    [
      ['run', '--branch', 'b', '-c', 'x'],
      "error: '--branch' and '--continue' exclude each other\nhint: see `cass --help`\n",
    ],
    [
      ['run', '--readonly', '--full-access', 'x'],
      "error: '--readonly' and '--full-access' exclude each other\nhint: see `cass --help`\n",
    ],
    [
      ['run', '--approve', 'some', 'x'],
      "error: '--approve' is shell, all or none, not 'some'\nhint: see `cass run --help`\n",
    ],
    [['run'], 'error: there is no prompt\nhint: give it as an argument or through a pipe\n'],
    [['run', '  '], 'error: there is no prompt\nhint: give it as an argument or through a pipe\n'],
    [
      ['chat', 'b', '--continue'],
      "error: 'BRANCH' and '--continue' exclude each other\nhint: see `cass --help`\n",
    ],
    [
      ['run', '--resume', 'x'],
      "error: '--resume' does not fit 'run'\nhint: name the branch to `cass run` instead\n",
    ],
    [
      ['resolve', '@', '-z'],
      "error: '-z' does not fit 'resolve', which prints no list\nhint: see `cass --help`\n",
    ],
    [
      ['log', '--graph', '--oneline'],
      "error: '--graph' and '--oneline' exclude each other\nhint: see `cass --help`\n",
    ],
  ]

  it.each(cases)('%j ends with 2, told on stderr, with stdout empty', async (argv, stderr) => {
    expect(await runHere(argv)).toEqual({ exitCode: 2, stdout: '', stderr })
  })

  it.each(cases.filter(([[name]]) => name !== 'chat'))(
    '%j is JSON on stdout with --json',
    async (argv, text) => {
      const { exitCode, stdout, stderr } = await runHere(['--json', ...argv])
      if (argv.includes('-z')) return
      const { error } = JSON.parse(stdout)
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' })
      expect(Object.keys(error)).toEqual(['code', 'message', 'hint'])
      expect(text).toBe(`error: ${error.message}\nhint: ${error.hint}\n`)
    },
  )

  it.each([
    ['log', '-n', '0'],
    ['log', '-n', 'x'],
    ['log', '-n', '1e3'],
    ['log', '-n', '99999999999999999999'],
    ['checkpoints', '--limit', '1.5'],
    ['run', '--max-steps', '-3', 'x'],
  ])('%s %s %s names the option and what it takes', async (...argv) => {
    const { exitCode, stdout, stderr } = await runHere(argv)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(argv[1])
    expect(stderr).toContain(`it is a whole number from 1 on, in digits, not '${argv[2]}'`)
    expect(stderr).toContain(`--help\``)
    expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(3)
  })

  it('is JSON also when `--json` stands behind what cannot be parsed', async () => {
    const equal = await runHere(['log', '--json=true'])
    expect([equal.exitCode, JSON.parse(equal.stdout).error.code]).toEqual([2, 'usage'])
    const { exitCode, stdout, stderr } = await runHere(['log', '--bogus', '--json'])
    expect({ exitCode, stderr, code: JSON.parse(stdout).error.code }).toEqual({
      ...{ exitCode: 2, stderr: '', code: 'unknown_option' },
    })
  })

  it.each(['chat', 'demo'])('says that %s, which is for people, has no JSON form', async (name) => {
    const { exitCode, stdout } = await runHere([name, '--json'])
    expect({ exitCode, message: JSON.parse(stdout).error.message }).toEqual({
      ...{ exitCode: 2, message: `'--json' does not fit '${name}', which is for people` },
    })
  })

  it('says that -z and --json exclude each other', async () => {
    const outcome = await runHere(['branches', '-z', '--json'])
    expect(outcome).toMatchObject({ exitCode: 2, stderr: '' })
    expect(JSON.parse(outcome.stdout).error.code).toBe('usage')
  })

  it('shows the stack with CASS_DEBUG=1, and only then', async () => {
    const quiet = await runHere(['nonsense'])
    const debug = await runHere(['nonsense'], { env: { CASS_DEBUG: '1' } })
    expect(quiet.stderr).not.toContain('    at ')
    expect(debug.stderr).toContain('    at ')
    expect(debug.exitCode).toBe(2)
  })
})

describe('--cwd', () => {
  it('says which folder cannot be opened', async () => {
    const { exitCode, stdout, stderr } = await runHere(['branches', '--cwd', 'missing-folder'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^error: .*'\/missing-folder'.*ENOENT.*\nhint: .*--cwd/)
  })
})

it.each([...laterCommands])(
  "says of '%s' that it is not there yet, and what to do",
  async (name, instead) => {
    const { exitCode, stdout, stderr } = await runHere([name, 'x'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toBe(`error: '${name}' is not there yet\nhint: ${instead}\n`)
    expect(Object.keys(manifest)).not.toContain(name)
  },
)

it('repeats no sentence that a shell would change', async () => {
  const { stderr } = await runHere(['what does `rm` do to $HOME?'])
  expect(stderr).toContain('hint: to say it to the agent: cass run "…"\n')
})
