import { resolve } from 'node:path'
import { CassError } from '../sources/errors.ts'
import { type GlobalOptions, type ParsedArguments, parseArguments, usageError } from './argv.ts'
import { report } from './base.ts'
import type { CommandContext, Surroundings } from './context.ts'
import { helpText } from './helpText.ts'
import { type CassCommandClass, manifest } from './manifest.ts'
import { findNearest } from './nearest.ts'
import { makePrinter } from './terminal/printer.ts'
import { formatUsage, parseCommand } from './usage.ts'
import { version } from './version.ts'

/** Runs one command line and gives its exit code. Never throws, never ends the process. */
export async function run(argv: ReadonlyArray<string>, surroundings: Surroundings): Promise<number> {
  let context = makeContext(surroundings, noGlobals)
  try {
    const parsed = parseArguments(argv, (globals) => {
      context = makeContext(surroundings, globals)
    })
    if (parsed.globals.version) {
      context.print.data(`cass ${version}`)
      return 0
    }
    return await dispatch(parsed, context)
  } catch (error) {
    return report(error, context)
  }
}

const noGlobals: GlobalOptions = {
  ...{ json: false, nul: false, cwd: null, color: 'auto', quiet: false, help: false, version: false },
}

function makeContext(surroundings: Surroundings, globals: GlobalOptions): CommandContext {
  const { stdout, stderr, terminals, columns, cwd } = surroundings
  const { quiet, nul } = globals
  return {
    ...surroundings,
    cwd: globals.cwd === null ? cwd : resolve(cwd, globals.cwd),
    // Clipanion would guess colours from TERM, also in a pipe; it is told instead.
    colorDepth: 1,
    globals,
    print: makePrinter({ stdout, stderr, terminals, columns, quiet, nul }),
    run,
  }
}

async function dispatch(parsed: ParsedArguments, context: CommandContext): Promise<number> {
  const { name, words } = chooseCommand(parsed)
  if (name === 'help') {
    const [topic] = parsed.positionals
    if (topic === undefined) return printHelp(context)
    return printUsage(topic, context)
  }
  if (parsed.globals.help) return parsed.command === null ? printHelp(context) : printUsage(name, context)
  const command = await loadCommand(name)
  if (context.globals.nul && !command.printsList)
    throw usageError(`'-z' does not fit '${name}', which prints no list`)
  if (context.globals.nul && context.globals.json) throw usageError("'-z' and '--json' exclude each other")
  return await parseCommand(command, { name, words, context }).validateAndExecute()
}

/** Which command, and its words in a form that clipanion reads in one way only. */
function chooseCommand({ command, options, positionals, resume }: ParsedArguments): {
  readonly name: string
  readonly words: string[]
} {
  const words = [...options, ...(positionals.length > 0 ? ['--', ...positionals] : [])]
  if (resume === null) return { name: command ?? 'chat', words }
  if (command !== null && command !== 'chat') {
    throw usageError(`'--resume' does not fit '${command}'`, `name the branch to \`cass ${command}\` instead`)
  }
  // Without an id, Cassady prints the chats of the folder and ends.
  if (resume.id === null) return { name: 'chats', words: [] }
  return { name: 'chat', words: [`--resume=${resume.id}`, ...words] }
}

function printHelp({ print }: CommandContext): number {
  print.data(helpText)
  return 0
}

async function printUsage(name: string, context: CommandContext): Promise<number> {
  const command = await loadCommand(name)
  context.print.data(formatUsage(command))
  return 0
}

async function loadCommand(name: string): Promise<CassCommandClass> {
  const load = Object.hasOwn(manifest, name) ? manifest[name] : undefined
  if (load === undefined) throw unknownCommand(name)
  return await load()
}

function unknownCommand(name: string): CassError {
  const nearest = findNearest(name, Object.keys(manifest))
  const hint =
    nearest === null
      ? 'see `cass --help`, or say it to the agent with `cass run`'
      : `did you mean '${nearest}'?`
  return new CassError('unknown_command', `unknown command '${name}'`, { kind: 'usage', hint })
}
