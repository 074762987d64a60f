import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runInShell } from './_console.ts'
import { readPage } from './_pages.ts'
import { makeWorld, type World } from './_world.ts'

const page = readPage('docs/storage.md').text
const chatId = '\\d{4}-\\d\\d-\\d\\d-\\d{6}-[A-Za-z0-9_-]{4}'
const placeholders: ReadonlyArray<readonly [string, string]> = [
  ['<conversation>', chatId],
  ['<chat-id>', chatId],
  ['<key>', '[0-9a-f]{16}'],
  ['<16 hex>', '[0-9a-f]{16}'],
  ['<2 hex>', '[0-9a-f]{2}'],
  ['<3 hex>', '[0-9a-f]{3}'],
  ['<62 hex>', '[0-9a-f]{62}'],
  ['<writer>', '.+-\\d+-[0-9a-f]{16}'],
]

let world: World
let home = ''
let files: string[] = []

beforeAll(async () => {
  world = await makeWorld([])
  home = join(world.cwd, '..', '.cass')
  await runInShell(
    [
      'cass run -q --workspace-edit "mend the discount"',
      'cass branch @:3:tool_call:call_1_0 --name retry --switch',
      'echo "// changed" >> src/basket.js',
      'cass run -q --branch retry "list the files"',
      'cass branch --rename retry second',
      'cass branch @:2 --name empty',
    ],
    world,
  )
  files = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
})

afterAll(() => world.close())

/** The paths in the table of files. */
function listedPaths(): RegExp[] {
  const section = page.slice(page.indexOf('\n## Files\n'), page.indexOf('\n## Ids\n'))
  const cells = [...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) => [
    ...cell!.matchAll(/`([^`]+)`/g),
  ])
  return cells.map(([, path]) => {
    const escaped = path!.replace(/\./g, '\\.')
    const pattern = placeholders.reduce((text, [name, regexp]) => text.replaceAll(name, regexp), escaped)
    return new RegExp(`^${pattern}${pattern.endsWith('/') ? '.*' : ''}$`)
  })
}

test('every file that a session leaves is in the table of docs/storage.md', () => {
  const paths = listedPaths()
  expect(files.length).toBeGreaterThan(15)
  expect(files.filter((file) => !paths.some((path) => path.test(file)))).toEqual([])
})

test.skipIf(process.platform === 'win32')('all of it is for its owner only', () => {
  const entries = readdirSync(home, { recursive: true, encoding: 'utf8' }).map((name) => join(home, name))
  const modes = new Set(
    [home, ...entries].map((path) => {
      const stat = statSync(path)
      return `${stat.isDirectory() ? 'folder' : 'file'} ${(stat.mode & 0o777).toString(8)}`
    }),
  )
  expect([...modes].sort()).toEqual(['file 600', 'folder 700'])
})

/** All keys of the objects in a JSON value. */
function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(keysOf)
  return Object.entries(value).flatMap(([key, each]) => [key, ...keysOf(each)])
}

function linesOf(name: RegExp): Array<Readonly<Record<string, unknown>>> {
  const found = files.filter((file) => name.test(file))
  expect(found.length, String(name)).toBeGreaterThan(0)
  return found.flatMap((file) =>
    readFileSync(join(home, file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
}

const isNamed = (key: string, text: string) => new RegExp(`[^a-z_]${key}[^a-z_]`).test(text)

test('docs/storage.md names every key of every type of log entry', () => {
  const common = ['schema_version', 'type', 'writer', 'at']
  const entries = linesOf(/\.events\.jsonl$/)
  const types = new Set(entries.map(({ type }) => type))
  expect([...types].sort()).toEqual([
    'fork',
    'log',
    'message',
    'rename',
    'select',
    'turn_begin',
    'turn_end',
    'writer',
  ])
  for (const entry of entries) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${entry.type}\` |`)) ?? ''
    const keys = Object.keys(entry).filter((key) => !common.includes(key))
    expect(keys.filter((key) => !row.includes(`\`${key}\``))).toEqual([])
    const { msgs, ...header } = entry
    expect(keysOf(header).filter((key) => !isNamed(key, page))).toEqual([])
    expect(keysOf(msgs).filter((key) => !isNamed(key, page))).toEqual([])
  }
})

test('docs/storage.md names every key of the journal, the index, the transcripts and the smaller files', () => {
  const journal = linesOf(/journal\.jsonl$/)
  expect(new Set(journal.map(({ type }) => type))).toEqual(new Set(['edit', 'outside']))
  const json = files.filter((file) => /(event-index|about|^heads\/.*)\.json$/.test(file))
  expect(json.length).toBe(3)
  const values = [
    ...journal,
    ...json.map((file) => JSON.parse(readFileSync(join(home, file), 'utf8'))),
    ...linesOf(new RegExp(`${chatId}\\.jsonl$`)).map(({ tool_calls, ...record }) => record),
  ]
  expect([...new Set(values.flatMap(keysOf))].filter((key) => !isNamed(key, page))).toEqual([])
})
