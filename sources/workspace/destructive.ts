import { classifySimple, programName, type ShellDialect } from './shellClass.ts'
import { parseShell, type SimpleCommand } from './shellWords.ts'

/** What `confirm_destructive_operations` asks about in full-access mode. */
export type DestructiveCall =
  | { readonly tool: 'write'; readonly overwrites: boolean }
  | { readonly tool: 'edit' }
  | { readonly tool: 'shell'; readonly command: string; readonly dialect: ShellDialect }
  | { readonly tool: 'ls' | 'read' | 'grep' }

/** Whether a call may delete or overwrite something. Unknown commands count as if they did. */
export function isDestructive(call: DestructiveCall): boolean {
  switch (call.tool) {
    case 'write':
      return call.overwrites
    case 'edit':
      return true
    case 'shell':
      return isDestructiveCommand(call.command, call.dialect)
    default:
      return false
  }
}

/**
 * Whether a shell command may delete or overwrite something: it does unless every part of it is proven to read, or is
 * of a kind that only adds (`mkdir`, `git commit`) or runs what the project itself offers (`npm test`, `make`).
 */
export function isDestructiveCommand(command: string, dialect: ShellDialect): boolean {
  if (dialect === 'windows' && /[`^%"\\$]/.test(command)) return true
  const parsed = parseShell(command)
  if (parsed.type === 'unclear') return true
  return (
    parsed.substitutions.some((inner) => isDestructiveCommand(inner, dialect)) ||
    parsed.commands.some((each) => !isHarmless(each, dialect))
  )
}

function isHarmless(command: SimpleCommand, dialect: ShellDialect): boolean {
  if (classifySimple(command, dialect).type === 'reads') return true
  if (command.writesTo.length > 0 || command.assignments.length > 0) return false
  const [name, ...words] = command.words
  if (name === undefined || name.dynamic || words.some((word) => word.dynamic)) return false
  const program = programName(name.text)
  const args = words.map((word) => word.text)
  return program !== null && (adders.get(program)?.(args) ?? false)
}

const oneOf =
  (names: string) =>
  ([first]: ReadonlyArray<string>): boolean =>
    names.split(' ').includes(first ?? '')

const always = (): boolean => true

const packageManager = oneOf('install i ci add test t run run-script start build lint typecheck')

/** Commands that add, or run what the project offers, and the arguments for which that is so. */
const adders = new Map<string, (args: ReadonlyArray<string>) => boolean>(
  Object.entries({
    mkdir: always,
    touch: always,
    git: isAddingGit,
    npm: packageManager,
    pnpm: packageManager,
    yarn: packageManager,
    bun: packageManager,
    cargo: oneOf('build check test run bench clippy doc'),
    go: oneOf('build test run vet'),
    make: (args) =>
      args.every((arg) => !/clean|uninstall|distclean|purge/.test(arg) && !/^-[^-]*[fC]|^--eval/.test(arg)),
    pytest: always,
    jest: always,
    vitest: always,
    tsc: always,
    mvn: (args) => !args.includes('clean'),
    gradle: (args) => !args.includes('clean'),
    dotnet: oneOf('build test run restore'),
    // A script of the project; code given in the command itself is not known.
    node: isScript,
    python: isScript,
    python3: isScript,
  }),
)

function isScript([first]: ReadonlyArray<string>): boolean {
  return first !== undefined && !first.startsWith('-')
}

function isAddingGit([command, ...args]: ReadonlyArray<string>): boolean {
  if (command === 'commit') return !args.some((arg) => arg.startsWith('--am'))
  if (command === 'add' || command === 'fetch')
    return !args.some((arg) => /^(-f|--force|-p|--prune)/.test(arg))
  return command === 'init' || command === 'clone'
}
