import { CassError } from '../sources/errors.ts'
import { findNearest } from './nearest.ts'

/** The options that every command understands, wherever they stand. */
export interface GlobalOptions {
  readonly json: boolean
  /** Rows end in NUL and are raw. */
  readonly nul: boolean
  readonly cwd: string | null
  readonly color: 'auto' | 'always' | 'never'
  readonly quiet: boolean
  readonly help: boolean
  readonly version: boolean
}

/** A command line after the one pass over it. */
export interface ParsedArguments {
  readonly globals: GlobalOptions
  /** The first word that is no option and no value of one; null when there is none. */
  readonly command: string | null
  /** The command's own options; `true` for those without a value. */
  readonly options: ReadonlyArray<{ readonly name: string; readonly value: string | true }>
  /** All other words, also those behind `--`. */
  readonly positionals: ReadonlyArray<string>
  /** `--resume [ID]` as Cassady has it; `id` is null without one. */
  readonly resume: { readonly id: string | null } | null
}

/**
 * The options of all commands: only with them can an option stand before the command's name. The text is what help
 * calls the option's value; null: it takes none.
 */
export const optionValues: Readonly<Record<string, string | null>> = {
  '--json': null,
  '-z': null,
  '--quiet': null,
  '-q': null,
  '--help': null,
  '-h': null,
  '--version': null,
  '-V': null,
  '--cwd': 'PATH',
  '--color': 'WHEN',
  '--all': null,
  '--api-key-env': 'NAME',
  '--approve': 'WHAT',
  '--base-url': 'URL',
  '--branch': 'BRANCH',
  '--continue': null,
  '-c': null,
  '--demo': null,
  '--diff': null,
  '--family': null,
  '--full-access': null,
  '--graph': null,
  '--kind': 'KIND,…',
  '--limit': 'N',
  '--max-steps': 'N',
  '--model': 'MODEL',
  '-n': 'N',
  '--name': 'NAME',
  '--new': null,
  '--oneline': null,
  '--probe': null,
  '--readonly': null,
  '--rename': null,
  '--resume': 'ID',
  '--retire': null,
  '--retired': null,
  '--reverse': null,
  '--search': 'TEXT',
  '--strict': null,
  '--switch': null,
  '--workspace-edit': null,
}

/**
 * One pass over the command line. It stands in for clipanion's own parser, which accepts no option before the command and
 * none with an optional value. Throws `usage` errors. `onGlobal` hears of each common option at once, so that an error
 * further on is already reported in the form that was asked for.
 */
export function parseArguments(
  argv: ReadonlyArray<string>,
  onGlobal?: (globals: GlobalOptions) => void,
): ParsedArguments {
  let globals: GlobalOptions = {
    ...{ json: false, nul: false, cwd: null, color: 'auto', quiet: false, help: false, version: false },
  }
  const options: { name: string; value: string | true }[] = []
  const positionals: string[] = []
  let resume: ParsedArguments['resume'] = null
  const words = splitWords(argv)
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word.text === '--') {
      positionals.push(...words.splice(0).map(({ text }) => text))
    } else if (!word.text.startsWith('-') || word.text === '-') {
      positionals.push(word.text)
    } else if (word.text === '--resume') {
      const next = words[0]
      const id =
        word.value ?? (next === undefined || next.text.startsWith('-') ? null : (words.shift()?.raw ?? null))
      if (id === '') throw emptyValue(word.text)
      resume = { id }
    } else {
      const value = takeValue(word, words)
      const changed = changeGlobals(globals, { name: word.text, value })
      if (changed === null) options.push({ name: word.text, value: value ?? true })
      else {
        globals = changed
        onGlobal?.(globals)
      }
    }
  }
  // `--resume` stands for the chat, so what stands beside it is never a command by accident.
  const command = positionals.shift() ?? null
  return { globals, command, options, positionals, resume }
}

interface Word {
  /** The option's name, or the whole word. */
  readonly text: string
  /** What stands behind `=`. */
  readonly value: string | null
  readonly raw: string
}

// Splits `--name=value`, `-n20` and bundles like `-qz`, up to `--`.
function splitWords(argv: ReadonlyArray<string>): Word[] {
  const end = argv.indexOf('--')
  const before = end === -1 ? argv : argv.slice(0, end)
  const behind = end === -1 ? [] : argv.slice(end)
  return [...before.flatMap(splitWord), ...behind.map((raw) => ({ text: raw, value: null, raw }))]
}

function splitWord(raw: string): Word[] {
  const bound = /^(--[^=]+)=([\s\S]*)$/.exec(raw)
  if (bound?.[1] !== undefined) return [{ text: bound[1], value: bound[2] ?? '', raw }]
  if (!/^-[a-zA-Z]./s.test(raw)) return [{ text: raw, value: null, raw }]
  const short = raw.slice(0, 2)
  if (typeof optionValues[short] === 'string')
    return [{ text: short, value: raw.slice(2).replace(/^=/, ''), raw }]
  const letters = [...raw.slice(1)].map((letter) => `-${letter}`)
  if (letters.some((letter) => optionValues[letter] !== null)) return [{ text: raw, value: null, raw }]
  return letters.map((letter) => ({ text: letter, value: null, raw }))
}

function takeValue({ text, value }: Word, rest: Word[]): string | null {
  const name = Object.hasOwn(optionValues, text) ? optionValues[text] : undefined
  if (name === undefined) throw unknownOption(text)
  if (name === null) {
    if (value !== null) throw usageError(`option '${text}' takes no value`)
    return null
  }
  const taken = value ?? rest.shift()?.raw
  if (taken === undefined || (value === null && taken === '--'))
    throw usageError(`option '${text}' needs a value`)
  if (taken === '' && !mayBeEmpty.has(text)) throw emptyValue(text)
  return taken
}

/** The empty text is in every conversation; an empty name names nothing, and is mostly a script's unset variable. */
const mayBeEmpty: ReadonlySet<string> = new Set(['--search'])

function emptyValue(name: string): CassError {
  return usageError(`the value of option '${name}' is empty`, 'give one, or leave the option out')
}

function unknownOption(name: string): CassError {
  const nearest = findNearest(name, Object.keys(optionValues))
  const hint = nearest === null ? 'see `cass --help`' : `did you mean '${nearest}'?`
  return new CassError('unknown_option', `unknown option '${name}'`, { kind: 'usage', hint })
}

/** An error in how the program was called. */
export function usageError(message: string, hint = 'see `cass --help`'): CassError {
  return new CassError('usage', message, { kind: 'usage', hint })
}

function changeGlobals(
  globals: GlobalOptions,
  { name, value }: { readonly name: string; readonly value: string | null },
): GlobalOptions | null {
  switch (name) {
    case '--json':
      return { ...globals, json: true }
    case '-z':
      return { ...globals, nul: true }
    case '--quiet':
    case '-q':
      return { ...globals, quiet: true }
    case '--help':
    case '-h':
      return { ...globals, help: true }
    case '--version':
    case '-V':
      return { ...globals, version: true }
    case '--cwd':
      return { ...globals, cwd: value }
    case '--color':
      return { ...globals, color: parseColor(value) }
    default:
      return null
  }
}

function parseColor(value: string | null): GlobalOptions['color'] {
  if (value === 'auto' || value === 'always' || value === 'never') return value
  throw usageError(`'--color' is auto, always or never, not '${value}'`)
}
