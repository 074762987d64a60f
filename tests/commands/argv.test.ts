import { describe, expect, it } from 'vitest'
import { parseArguments } from '../../commands/argv.ts'
import { CassError } from '../../sources/errors.ts'

const noGlobals = {
  json: false,
  nul: false,
  cwd: null,
  color: 'auto',
  quiet: false,
  help: false,
  version: false,
}

function parse(argv: ReadonlyArray<string>) {
  const { globals, ...rest } = parseArguments(argv)
  const given = Object.entries(globals).filter(([name, value]) => value !== noGlobals[name as 'json'])
  return { ...rest, globals: Object.fromEntries(given) }
}

describe('the pass over the command line', () => {
  const cases: ReadonlyArray<readonly [string[], Partial<ReturnType<typeof parse>>]> = [
    [[], { command: null }],
    [['branches'], { command: 'branches' }],
    [['--json', 'branches', '-q'], { command: 'branches', globals: { json: true, quiet: true } }],
    [
      ['branches', '--cwd', '/x', '--all'],
      { command: 'branches', options: [{ name: '--all', value: true }], globals: { cwd: '/x' } },
    ],
    [['--cwd=/x=y', 'branches'], { command: 'branches', globals: { cwd: '/x=y' } }],
    [
      ['--name', 'retry', 'branch', '@~1'],
      { command: 'branch', options: [{ name: '--name', value: 'retry' }], positionals: ['@~1'] },
    ],
    [
      ['branch', '--name', '-odd', '@'],
      { command: 'branch', options: [{ name: '--name', value: '-odd' }], positionals: ['@'] },
    ],
    [['log', '-n', '5'], { command: 'log', options: [{ name: '-n', value: '5' }] }],
    [['log', '-n5'], { command: 'log', options: [{ name: '-n', value: '5' }] }],
    [['branches', '-qz'], { command: 'branches', globals: { nul: true, quiet: true } }],
    [['run', '--', '--json', '-x'], { command: 'run', positionals: ['--json', '-x'] }],
    [
      ['run', '--model', 'm', '--', '--'],
      { command: 'run', options: [{ name: '--model', value: 'm' }], positionals: ['--'] },
    ],
    [['run', '-'], { command: 'run', positionals: ['-'] }],
    [['run', ''], { command: 'run', positionals: [''] }],
    [['--resume'], { resume: { id: null } }],
    [['--resume', 'check'], { resume: { id: 'check' } }],
    [['--resume=abc'], { resume: { id: 'abc' } }],
    [['--resume', '--json'], { resume: { id: null }, globals: { json: true } }],
    [
      ['chat', '--resume', 'abc', '--model', 'm'],
      { command: 'chat', resume: { id: 'abc' }, options: [{ name: '--model', value: 'm' }] },
    ],
    [['--color', 'never', 'log'], { command: 'log', globals: { color: 'never' } }],
  ]
  it.each(cases)('reads %j', (argv, expected) => {
    const empty = { command: null, options: [], positionals: [], resume: null, globals: {} }
    expect(parse(argv)).toEqual({ ...empty, ...expected })
  })

  it('takes one value for each occurrence of an option', () => {
    expect(parse(['checkpoints', '--kind', 'user', '--kind', 'assistant', 'b'])).toMatchObject({
      options: [
        { name: '--kind', value: 'user' },
        { name: '--kind', value: 'assistant' },
      ],
      positionals: ['b'],
    })
  })

  const errors: ReadonlyArray<readonly [string[], string, string]> = [
    [['--jsn', 'branches'], "unknown option '--jsn'", "did you mean '--json'?"],
    [['branches', '-x'], "unknown option '-x'", 'see `cass --help`'],
    [['branches', '-qx'], "unknown option '-qx'", 'see `cass --help`'],
    [['branch', '--name'], "option '--name' needs a value", 'see `cass --help`'],
    [['branch', '--name', '--', 'x'], "option '--name' needs a value", 'see `cass --help`'],
    ...[
      ['--cwd', ''],
      ['--cwd='],
      ['--model', ''],
      ['--branch', ''],
      ['--name='],
      ['--resume', ''],
      ['--resume='],
      ['--base-url', ''],
      ['-n', ''],
      ['--color', ''],
    ].map((words): [string[], string, string] => [
      words,
      `the value of option '${words[0]?.replace('=', '')}' is empty`,
      'give one, or leave the option out',
    ]),
    [['branches', '--all=yes'], "option '--all' takes no value", 'see `cass --help`'],
    [['--color', 'red', 'log'], "'--color' is auto, always or never, not 'red'", 'see `cass --help`'],
    [['--toString'], "unknown option '--toString'", 'see `cass --help`'],
  ]
  it.each(errors)('refuses %j', (argv, message, hint) => {
    const error = catchError(() => parseArguments(argv))
    expect(error).toMatchObject({ kind: 'usage', message, hint })
  })

  it('has told of the common options that stand before a mistake', () => {
    const heard: boolean[] = []
    catchError(() => parseArguments(['--json', '--nonsense'], ({ json }) => heard.push(json)))
    expect(heard).toEqual([true])
  })
})

function catchError(action: () => unknown): CassError {
  try {
    action()
  } catch (error) {
    if (error instanceof CassError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
