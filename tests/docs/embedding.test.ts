import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { blocksOf, readPage, repository } from './_pages.ts'
import { makeWorld } from './_world.ts'

const page = readPage('docs/embedding.md')

test('the example of docs/embedding.md runs against the built library', async () => {
  const example = blocksOf(page).find(({ language }) => language === 'js')
  const world = await makeWorld([])
  try {
    mkdirSync(join(world.cwd, 'node_modules'))
    symlinkSync(repository, join(world.cwd, 'node_modules', 'cassady'), 'junction')
    writeFileSync(join(world.cwd, 'example.mjs'), example?.text ?? '')
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['example.mjs'], world)
    expect(stdout).toMatch(/^stop It adds up a shopping basket\.\n\[\n/)
    expect(stderr.trim().split('\n')).toEqual(['session_started', 'assistant_chunk', 'turn_finished'])
  } finally {
    await world.close()
  }
})

test('docs/embedding.md names every function that the library exports', () => {
  const entry = readFileSync(join(repository, 'sources/index.ts'), 'utf8')
  const exported = [...entry.matchAll(/^export \{ (.+) \} from/gm)]
    .flatMap(([, names = '']) => names.split(', '))
    .filter((name) => !name.startsWith('type '))
  expect(exported.length).toBeGreaterThan(10)
  expect(exported.filter((name) => !page.text.includes(`\`${name}`))).toEqual([])
})

test('docs/architecture.md names every folder of the library', () => {
  const { text } = readPage('docs/architecture.md')
  const folders = readdirSync(join(repository, 'sources'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  expect(folders.filter((name) => !text.includes(`\`sources/${name}/\``))).toEqual([])
})
