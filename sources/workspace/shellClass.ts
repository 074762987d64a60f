import { isGitReader } from './gitReaders.ts'
import { carefulReaders, plainReaders, powerShellReaders } from './readers.ts'
import { parseShell, type SimpleCommand } from './shellWords.ts'

/** How much is known about what a shell command does. Only `reads` is a proof. */
export type ShellClass =
  | { readonly type: 'reads' }
  /** It writes a file by a redirection. */
  | { readonly type: 'writes'; readonly reason: string }
  | { readonly type: 'unknown'; readonly reason: string }

/** Which language a command is read as: `sh`, or that of PowerShell and cmd, which share only the simplest forms. */
export type ShellDialect = 'sh' | 'windows'

/** Whether a command is proven, from its text alone, to change no file. Everything not known is not read-only. */
export function isReadOnlyCommand(command: string, dialect: ShellDialect): boolean {
  return classifyCommand(command, dialect).type === 'reads'
}

/** Judges a command by its text alone; nothing is run. One part that is not known makes the whole unknown. */
export function classifyCommand(command: string, dialect: ShellDialect): ShellClass {
  // In these the characters quote and expand differently, so the split below would not be theirs.
  if (dialect === 'windows' && /[`^%"\\$]/.test(command)) {
    return { type: 'unknown', reason: 'it has characters that the shells of Windows read in their own way' }
  }
  const parsed = parseShell(command)
  if (parsed.type === 'unclear') return { type: 'unknown', reason: parsed.reason }
  const parts = [
    ...parsed.substitutions.map((inner) => classifyCommand(inner, dialect)),
    ...parsed.commands.map((each) => classifySimple(each, dialect)),
  ]
  return (
    parts.find((part) => part.type === 'unknown') ??
    parts.find((part) => part.type === 'writes') ?? { type: 'reads' }
  )
}

// Variables that steer only how things are shown; any other could choose a program or a file.
const harmlessVariable = /^(LANG|LANGUAGE|LC_\w+|TZ|NO_COLOR|CI|COLUMNS|LINES|TERM)=/

/** Judges one simple command, without its redirections' targets being anything but files to write. */
export function classifySimple(command: SimpleCommand, dialect: ShellDialect): ShellClass {
  const variable = command.assignments.find((each) => !harmlessVariable.test(each))
  if (variable !== undefined) {
    return { type: 'unknown', reason: `it sets the variable '${variable.split('=', 1)[0] ?? ''}'` }
  }
  const [name, ...args] = command.words
  if (name !== undefined && (name.dynamic || !isReader(name.text, args, dialect))) {
    return {
      type: 'unknown',
      reason: `'${programName(name.text) ?? name.text}' is not known to only read here`,
    }
  }
  const [target] = command.writesTo
  if (target !== undefined) return { type: 'writes', reason: `it writes '${target}'` }
  return name === undefined ? { type: 'unknown', reason: 'it has no command' } : { type: 'reads' }
}

function isReader(name: string, words: SimpleCommand['words'], dialect: ShellDialect): boolean {
  const program = programName(name)
  if (program === null) return false
  if (program === 'env' && words.length > 0) return isEnvReader(words, dialect)
  if (plainReaders.has(program)) return true
  if (dialect === 'windows' && powerShellReaders.has(program.toLowerCase())) return true
  // From here on the arguments decide, so each must be known.
  if (words.some((word) => word.dynamic)) return false
  const args = words.map((word) => word.text)
  if (program === 'git') return isGitReader(args)
  return carefulReaders.get(program)?.(args) ?? false
}

function isEnvReader(words: SimpleCommand['words'], dialect: ShellDialect): boolean {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word.text))
  if (first === -1) return words.every((word) => harmlessVariable.test(word.text))
  const assignments = words.slice(0, first).map((word) => word.text)
  const inner = words.slice(first)
  if (inner[0]?.text.startsWith('-') === true) return false
  return classifySimple({ assignments, words: inner, writesTo: [] }, dialect).type === 'reads'
}

const systemFolders = /^\/(usr\/)?(local\/)?s?bin\//

/** The name of a program of the system; null for one that is called by another path, which may be anything. */
export function programName(name: string): string | null {
  const plain = name.replace(systemFolders, '')
  return plain.includes('/') || plain === '' ? null : plain
}
