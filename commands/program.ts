import { isAbsolute, resolve } from 'node:path'
import { CassError } from '../sources/errors.ts'
import { type GlobalOptions, type ParsedArguments, parseArguments, usageError } from './argv.ts'
import { report } from './base.ts'
import { bindCommand } from './bind.ts'
import type { CommandContext, Run, Surroundings } from './context.ts'
import { helpText } from './helpText.ts'
import { laterCommands } from './later.ts'
import type { CassCommandClass, Manifest } from './manifest.ts'
import { findNearest } from './nearest.ts'
import { makePrinter } from './terminal/printer.ts'
import { version } from './version.ts'

/** Makes the program that has these commands. */
export function makeProgram(commands: Manifest): Run {
  const run: Run = async (argv, surroundings) => {
    // An argument that cannot be parsed may stand before `--json`, and scripts want its error as JSON too.
    let context = makeContext(surroundings, { globals: { ...noGlobals, json: asksForJson(argv) }, run })
    try {
      const parsed = parseArguments(argv, (globals) => {
        context = makeContext(surroundings, { globals, run })
      })
      return await dispatch(parsed, { context, commands })
    } catch (error) {
      return report(error, context)
    }
  }
  return run
}

function asksForJson(argv: ReadonlyArray<string>): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? argv.length : end).some((word) => /^--json(=|$)/.test(word))
}

const noGlobals: GlobalOptions = {
  ...{ json: false, nul: false, cwd: null, color: 'auto', quiet: false, help: false, version: false },
}

function makeContext(
  surroundings: Surroundings,
  { globals, run }: { readonly globals: GlobalOptions; readonly run: Run },
): CommandContext {
  const { openStdin, stdout, stderr, terminals, columns, cwd } = surroundings
  const { quiet, nul } = globals
  return {
    ...surroundings,
    // Opened when it is read: the stream alone costs as much as a small command.
    get stdin() {
      return openStdin()
    },
    // Asked for when it is needed: help, and a folder that was given, do without the one that the shell is in.
    get cwd() {
      if (globals.cwd !== null && isAbsolute(globals.cwd)) return resolve(globals.cwd)
      if (cwd === null) throw folderIsGone()
      return globals.cwd === null ? cwd : resolve(cwd, globals.cwd)
    },
    // Clipanion would guess colours from TERM, also in a pipe; it is told instead.
    colorDepth: 1,
    globals,
    print: makePrinter({ stdout, stderr, terminals, columns, quiet, nul }),
    run,
  }
}

function folderIsGone(): CassError {
  return new CassError('folder_not_found', 'the folder that you are in is not there any more', {
    hint: 'go to another one, or give one with --cwd',
  })
}

async function dispatch(
  parsed: ParsedArguments,
  { context, commands }: { readonly context: CommandContext; readonly commands: Manifest },
): Promise<number> {
  const { print } = context
  if (parsed.globals.version) {
    if (parsed.globals.json) print.json({ version })
    else print.data(`cass ${version}`)
    return 0
  }
  const { name, options, positionals } = chooseCommand(parsed)
  const topic = name === 'help' ? (parsed.positionals[0] ?? null) : parsed.command
  if (parsed.globals.help || name === 'help') {
    const help = topic === null ? helpText : await formatUsageOf(topic, commands)
    if (parsed.globals.json) print.json({ help })
    else print.data(help)
    return 0
  }
  const command = await loadCommand(name, commands)
  if (context.globals.json && !command.hasJson)
    throw usageError(
      `'--json' does not fit '${name}', which is for people`,
      'use `cass run --json` in scripts',
    )
  if (context.globals.nul && !command.printsList)
    throw usageError(`'-z' does not fit '${name}', which prints no list`)
  if (context.globals.nul && context.globals.json) throw usageError("'-z' and '--json' exclude each other")
  return await bindCommand(command, { name, options, positionals, context }).validateAndExecute()
}

// Clipanion's own machinery is only for usage texts, so that is where it is loaded.
async function formatUsageOf(topic: string, commands: Manifest): Promise<string> {
  const command = await loadCommand(topic, commands)
  const { formatUsage } = await import('./usage.ts')
  return formatUsage(command)
}

function chooseCommand({ command, options, positionals, resume }: ParsedArguments): {
  readonly name: string
} & Pick<ParsedArguments, 'options' | 'positionals'> {
  if (resume === null) return { name: command ?? 'chat', options, positionals }
  if (command !== null && command !== 'chat') {
    throw usageError(`'--resume' does not fit '${command}'`, `name the branch to \`cass ${command}\` instead`)
  }
  // Without an id, Cassady prints the chats of the folder and ends.
  if (resume.id === null) return { name: 'chats', options, positionals }
  return { name: 'chat', options: [...options, { name: '--resume', value: resume.id }], positionals }
}

async function loadCommand(name: string, commands: Manifest): Promise<CassCommandClass> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load === undefined) throw unknownCommand(name, Object.keys(commands))
  return await load()
}

function unknownCommand(name: string, known: ReadonlyArray<string>): CassError {
  const instead = laterCommands.get(name)
  if (instead !== undefined) {
    return new CassError('unknown_command', `'${name}' is not there yet`, { kind: 'usage', hint: instead })
  }
  return new CassError('unknown_command', `unknown command '${name}'`, {
    kind: 'usage',
    hint: hintFor(name, known),
  })
}

function hintFor(name: string, known: ReadonlyArray<string>): string {
  // A sentence is meant for the agent.
  if (/\s/.test(name.trim())) {
    const said = /^[^"$`\\!]{1,60}$/.test(name) ? name : '…'
    return `to say it to the agent: cass run "${said}"`
  }
  const nearest = findNearest(name, known)
  return nearest === null
    ? 'see `cass --help`, or say it to the agent with `cass run`'
    : `did you mean '${nearest}'?`
}
