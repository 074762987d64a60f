import type { Definition } from 'clipanion'
import { manifest } from './manifest.ts'
import { readDefinition } from './usage.ts'

const commonOptions: ReadonlyArray<readonly [string, string]> = [
  ['--json', 'one JSON document on stdout (JSON Lines for `run`), errors too'],
  ['-z', 'on lists: NUL behind each row, TAB between columns, raw'],
  ['--cwd PATH', 'work in this folder instead of the current one'],
  ['--color WHEN', 'auto, always or never; NO_COLOR means never'],
  ['-q, --quiet', 'no notes on stderr; errors stay'],
  ['-h, --help', 'this text, or that of a command'],
  ['-V, --version', 'the version'],
]

/** The generated files and their text: the program's help, which is printed without loading a command, and the docs page. */
export async function makeReference(): Promise<Readonly<Record<string, string>>> {
  const definitions = await readDefinitions()
  return {
    'commands/helpText.ts': formatHelpModule(formatHelp(definitions)),
    'docs/commands.md': formatPage(definitions),
  }
}

async function readDefinitions(): Promise<ReadonlyArray<Definition>> {
  const commands = await Promise.all(Object.values(manifest).map((load) => load()))
  return commands.flatMap(readDefinition).toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function formatHelp(definitions: ReadonlyArray<Definition>): string {
  const width = Math.max(
    ...definitions.map(({ path }) => nameOf(path).length),
    ...commonOptions.map(([name]) => name.length),
  )
  const line = (name: string, text: string) => `  ${name.padEnd(width)}  ${text}`
  const group = (category: string) =>
    definitions
      .filter((definition) => definition.category?.trim() === category)
      .map(({ path, description }) => line(nameOf(path), description?.trim() ?? ''))
  return [
    'cass: a coding agent for the terminal whose conversations branch like git and lose nothing',
    '',
    'Usage: cass [COMMAND] [OPTIONS]      (`cass` alone is `cass chat`)',
    '',
    'Commands for people:',
    ...group('Porcelain'),
    '',
    'Commands for scripts:',
    ...group('Plumbing'),
    '',
    'Options of all commands, before or behind the command:',
    ...commonOptions.map(([name, text]) => line(name, text)),
    '',
    'See `cass COMMAND --help` for one command with examples.',
  ].join('\n')
}

function formatHelpModule(text: string): string {
  const escaped = text.replace(/[\\`$]/g, (character) => `\\${character}`)
  return `/** What \`cass --help\` prints. Generated from the commands by \`npm run build\`; do not edit. */\nexport const helpText = \`${escaped}\`\n`
}

function formatPage(definitions: ReadonlyArray<Definition>): string {
  const options = commonOptions.map(([name, text]) => `- \`${name}\`: ${text}`)
  return [
    '# Commands',
    '',
    'Generated from the commands themselves by `npm run build`; do not edit.',
    '',
    '## Options of all commands',
    '',
    'They stand before or behind the command. `--` ends the options.',
    '',
    ...options,
    ...definitions.flatMap(formatSection),
    '',
  ].join('\n')
}

function formatSection({
  path,
  usage,
  category,
  description,
  details,
  examples,
  options,
}: Definition): string[] {
  return [
    '',
    `## ${path}`,
    '',
    `${category?.trim()}: ${description?.trim()}.`,
    '',
    '```',
    usage,
    '```',
    ...(details === undefined ? [] : ['', details.trim()]),
    ...(options.length === 0 ? [] : ['', ...options.map(formatOption)]),
    ...(examples ?? []).flatMap(([label, command]) => ['', `${label.trim()}:`, '', '```sh', command, '```']),
  ]
}

function formatOption({ definition, description }: Definition['options'][number]): string {
  return `- \`${definition}\`${description === undefined ? '' : `: ${description.trim()}`}`
}

function nameOf(path: string): string {
  return path.replace(/^cass /, '')
}
