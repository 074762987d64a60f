import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { optionValues, parseArguments } from '../commands/argv.ts'
import { bindCommand } from '../commands/bind.ts'
import { type CassCommandClass, manifest } from '../commands/manifest.ts'
import { makeReference } from '../commands/reference.ts'
import { readDefinition } from '../commands/usage.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const names = Object.keys(manifest)
const globals = ['--json', '-z', '--quiet', '-q', '--help', '-h', '--version', '-V', '--cwd', '--color']

async function load(name: string): Promise<CassCommandClass> {
  const command = await manifest[name]?.()
  if (command === undefined) throw new Error(`no command '${name}'`)
  return command
}

describe('the manifest', () => {
  it('is sorted and holds every command of this program', () => {
    expect(names).toEqual([...names].sort())
    expect(names).toEqual(
      expect.arrayContaining(['branch', 'chat', 'check', 'demo', 'fsck', 'log', 'run', 'switch']),
    )
  })

  it('is the same set as the command files', () => {
    const files = readdirSync(`${repository}/commands`)
      .filter((file) => file.endsWith('.ts'))
      .filter((file) => /extends (BaseCommand|TurnCommand) \{/.test(readText(`commands/${file}`)))
      .map((file) => file.replace('.ts', ''))
    expect(files.filter((file) => file !== 'turnCommand').sort()).toEqual(names)
  })

  it('is the same set as the sections of docs/commands.md', () => {
    const sections = [...readText('docs/commands.md').matchAll(/^## cass (\S+)$/gm)].map((match) => match[1])
    expect(sections).toEqual(names)
  })
})

describe.each(names)('the command %s', (name) => {
  it('has the path of its key, a category, a description and two examples', async () => {
    const command = await load(name)
    expect(command.paths).toEqual([[name]])
    expect(command.usage?.category).toMatch(/^(Plumbing|Porcelain)$/)
    expect(command.usage?.description).toMatch(/^[a-z].*[^.]$/)
    expect(command.usage?.examples?.length).toBeGreaterThanOrEqual(2)
  })

  it('has examples that it accepts', async () => {
    const command = await load(name)
    for (const [, example] of command.usage?.examples ?? []) {
      const parsed = parseArguments(wordsOfExample(example))
      expect(parsed.command).toBe(name)
      expect(() => bindCommand(command, { ...parsed, name, context: {} as never })).not.toThrow()
    }
  })

  it('has a description for each option, and the pass over the command line knows the option', async () => {
    for (const { definition, description } of readDefinition(await load(name)).flatMap(
      ({ options }) => options,
    )) {
      expect(description, definition).toBeTruthy()
      const [aliases = '', value] = definition.split(/(?<=[a-z]) (?=[A-Z])/)
      for (const option of aliases.split(',')) {
        expect(globals, `${option} belongs to all commands`).not.toContain(option)
        expect(optionValues[option], option).toBe(value ?? null)
      }
    }
  })
})

it('gives the pass over the command line no option that no command has', async () => {
  const commands = await Promise.all(names.map(load))
  const used = commands.flatMap((command) =>
    readDefinition(command).flatMap(({ options }) =>
      options.flatMap(({ definition }) => definition.split(/[ ,]/)),
    ),
  )
  expect(
    Object.keys(optionValues).filter((option) => !globals.includes(option) && !used.includes(option)),
  ).toEqual([])
})

it('makes the same help text and commands page as those in the repository', async () => {
  for (const [path, text] of Object.entries(await makeReference())) expect(readText(path), path).toBe(text)
})

function readText(path: string): string {
  const full = `${repository}/${path}`
  return readFileSync(full, { encoding: 'utf8', flag: 'r' })
}

// The words behind `$0`, as a shell would split them, up to a pipe.
function wordsOfExample(example: string): string[] {
  const [, behind = ''] = example.split('$0 ')
  const [command = ''] = behind.split(' | ')
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '')
}
