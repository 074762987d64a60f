import { Cli, type Definition } from 'clipanion'
import { optionValues } from './argv.ts'
import type { CommandContext } from './context.ts'
import type { CassCommandClass } from './manifest.ts'

// Its own work grows with the number of commands.
function makeCli(commands: ReadonlyArray<CassCommandClass>): Cli<CommandContext> {
  // It would guess colours from TERM, also in a pipe.
  return Cli.from<CommandContext>([...commands], { binaryName: 'cass', enableColors: false })
}

/** The usage text of one command. */
export function formatUsage(command: CassCommandClass): string {
  return alignOptions(improve(makeCli([command]).usage(command, { colored: false, detailed: true }), command))
}

// The names of values are longer or shorter than clipanion's.
function alignOptions(text: string): string {
  const option = /^ {2}(-\S.*?) {2,}(\S.*)$/gm
  const width = Math.max(0, ...[...text.matchAll(option)].map(([, name = '']) => name.length))
  return text.replace(option, (_, name: string, what: string) => `  ${name.padEnd(width)}  ${what}`)
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
