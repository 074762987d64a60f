import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hashOf, installDocs } from '../../../sources/session/installDocs.ts'
import type { Place } from '../../../sources/session/place.ts'

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const expectedPages = [
  ...['README.md', 'commands.md', 'configuration.md', 'providers.md', 'access-modes.md', 'embedding.md'],
  ...['workflows.md', 'troubleshooting.md', 'platforms.md', 'glossary.md'],
]
let folder = ''
let place: Place

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cass-docs-'))
  place = {
    root: join(folder, 'home'),
    cwd: folder,
    home: folder,
    env: {},
    now: () => new Date('2026-06-25T10:15:33.000Z'),
    random: (bytes) => new Uint8Array(bytes),
    pid: 1,
    programFolder: repository,
  }
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('the bundled pages are all there', () => {
  expect(expectedPages.filter((name) => !existsSync(join(repository, 'docs', name)))).toEqual([])
})

test('installing puts the pages into a folder of our own, with a stamp of what they are', async () => {
  const installed = await installDocs(place)
  expect(installed).toBe(join(place.root, 'docs-cass'))
  const names = readdirSync(installed)
  expect(names).toEqual(expect.arrayContaining(expectedPages))
  for (const name of expectedPages) {
    expect(readFileSync(join(installed, name))).toEqual(readFileSync(join(repository, 'docs', name)))
  }
  expect(readFileSync(join(installed, '.cass-docs-hash'), 'utf8')).toBe(
    `${hashOf(join(repository, 'docs'))}\n`,
  )
  expect(existsSync(join(place.root, 'docs'))).toBe(false)
})

test('installing a second time changes nothing', async () => {
  const installed = await installDocs(place)
  const before = statSync(join(installed, 'README.md'), { bigint: true })
  const again = await installDocs(place)
  const after = statSync(join(installed, 'README.md'), { bigint: true })
  expect(again).toBe(installed)
  expect([after.ino, after.ctimeNs]).toEqual([before.ino, before.ctimeNs])
})

test('other pages than the bundled ones are replaced, and nothing else is left behind', async () => {
  const program = join(folder, 'program')
  mkdirSync(join(program, 'docs', 'guides'), { recursive: true })
  writeFileSync(join(program, 'docs', 'README.md'), 'one\n')
  writeFileSync(join(program, 'docs', 'guides', 'old.md'), 'old\n')
  const installed = await installDocs({ ...place, programFolder: program })
  expect(readFileSync(join(installed, 'guides', 'old.md'), 'utf8')).toBe('old\n')
  rmSync(join(program, 'docs', 'guides'), { recursive: true })
  writeFileSync(join(program, 'docs', 'README.md'), 'two\n')
  await installDocs({ ...place, programFolder: program })
  expect(readdirSync(installed).sort()).toEqual(['.cass-docs-hash', 'README.md'])
  expect(readFileSync(join(installed, 'README.md'), 'utf8')).toBe('two\n')
  expect(readdirSync(place.root).sort()).toEqual(['docs-cass', 'locks'])
})

test('a copy that was cut before it was whole is made again', async () => {
  mkdirSync(join(place.root, 'docs-cass.new'), { recursive: true })
  writeFileSync(join(place.root, 'docs-cass.new', 'half.md'), 'half')
  const installed = await installDocs(place)
  expect(existsSync(join(installed, 'half.md'))).toBe(false)
  expect(readdirSync(installed)).toContain('README.md')
})

test.skipIf(process.platform === 'win32')('only the owner can read the pages', async () => {
  const program = join(folder, 'program')
  mkdirSync(join(program, 'docs', 'guides'), { recursive: true, mode: 0o755 })
  writeFileSync(join(program, 'docs', 'README.md'), 'one\n', { mode: 0o644 })
  writeFileSync(join(program, 'docs', 'guides', 'a.md'), 'a\n', { mode: 0o644 })
  const installed = await installDocs({ ...place, programFolder: program })
  const modeOf = (name: string) => (statSync(join(installed, name)).mode & 0o777).toString(8)
  expect(['', 'guides', 'README.md', 'guides/a.md', '.cass-docs-hash'].map(modeOf)).toEqual([
    ...['700', '700', '600', '600', '600'],
  ])
})
