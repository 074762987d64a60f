import { Cli, type Command, type Definition } from 'clipanion'
import { optionValues, usageError } from './argv.ts'
import type { CommandContext } from './context.ts'
import type { CassCommandClass } from './manifest.ts'

/** Clipanion with these commands and nothing else: its own work grows with their number. */
export function makeCli(commands: ReadonlyArray<CassCommandClass>): Cli<CommandContext> {
  // It would guess colours from TERM, also in a pipe.
  return Cli.from<CommandContext>([...commands], { binaryName: 'cass', enableColors: false })
}

/** The command, ready to be executed. What clipanion dislikes about the words becomes a usage error. */
export function parseCommand(
  command: CassCommandClass,
  {
    name,
    words,
    context,
  }: { readonly name: string; readonly words: ReadonlyArray<string>; readonly context: CommandContext },
): Command<CommandContext> {
  try {
    // Clipanion copies the fields of the context it gets, and would open stdin by that; this one has none of its own.
    const untouched: CommandContext = Object.create(context)
    const parsed = makeCli([command]).process([name, ...words], untouched)
    parsed.context = context
    return parsed
  } catch (error) {
    if (!(error instanceof Error) || !('clipanion' in error)) throw error
    throw usageError(describe(error), `see \`cass ${name} --help\``)
  }
}

// With several readings of the words clipanion gives only their list; the reasons are in its candidates.
function describe(error: Error): string {
  const reasons = 'candidates' in error && isCandidates(error.candidates) ? error.candidates : []
  const reason =
    reasons.map(({ reason }) => reason).find((text) => text !== null) ?? error.message.split('\n\n')[0] ?? ''
  const text = reason
    .split('\n')
    .map((line) => line.trim().replace(/^- /, ''))
    .join(' ')
    .replace(/\("([^"]*)"\)/g, "'$1'")
    .replace(/\.$/, '')
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function isCandidates(value: unknown): value is ReadonlyArray<{ readonly reason: string | null }> {
  return (
    Array.isArray(value) &&
    value.every((each) => typeof each === 'object' && each !== null && 'reason' in each)
  )
}

/** The usage text of one command. */
export function formatUsage(command: CassCommandClass): string {
  return improve(makeCli([command]).usage(command, { colored: false, detailed: true }), command)
}

/** What clipanion knows of one command, with our names of values. */
export function readDefinition(command: CassCommandClass): ReadonlyArray<Definition> {
  return makeCli([command])
    .definitions()
    .map((definition) => ({
      ...definition,
      usage: improve(definition.usage, command),
      ...(definition.details === undefined ? {} : { details: improve(definition.details, command) }),
      options: definition.options.map((option) => ({
        ...option,
        definition: improve(option.definition, command),
      })),
    }))
}

// Clipanion calls the value of an option `#0`, words that may repeat `...`, and leaves blanks at the ends of lines.
function improve(text: string, command: CassCommandClass): string {
  return text
    .replace(/(--?[a-z][a-z-]*) #0/g, (_, name: string) => `${name} ${optionValues[name] ?? 'VALUE'}`)
    .replace(/^(\$? ?cass .*)\.\.\.$/m, (_, start: string) => `${start}${command.words}`)
    .replace(/ +$/gm, '')
}
