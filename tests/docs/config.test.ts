import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inspectConfigFiles } from '../../sources/config/files.ts'
import { blocksOf, readPages } from './_pages.ts'

interface FileExample {
  /** Where it stands. */
  readonly place: string
  readonly name: string
  readonly text: string
}

/** Which configuration file an example without a name is. */
function nameOf(text: string): string {
  const value: Readonly<Record<string, unknown>> = JSON.parse(text)
  if ('providers' in value) return 'providers.json'
  if ('models' in value) return 'models.json'
  return Object.keys(value).some((key) => key.includes('_')) ? 'config.json' : 'settings.json'
}

/** Configuration files in `json` blocks, in here-documents of scripts, and in lines of text. */
const examples = readPages().flatMap((page): FileExample[] => {
  const blocks = blocksOf(page)
  const inBlocks = blocks
    .filter(({ language }) => language === 'json')
    .map(({ info, text, line }) => ({ place: `${page.path}:${line}`, name: info || nameOf(text), text }))
  const inScripts = blocks
    .filter(({ language }) => language === 'sh' || language === 'console')
    .flatMap(({ text, line }) =>
      [...text.matchAll(/(\w+\.json)"? <<'(\w+)'\n([\s\S]*?)^\2$/gm)].map(([, name = '', , body = '']) => ({
        place: `${page.path}:${line}`,
        name,
        text: body,
      })),
    )
  const inText = [...page.text.matchAll(/`(\{"(?:default_|confirm_|context_)[^`]+\})`/g)].map(
    ([, text = '']) => ({ place: page.path, name: nameOf(text), text }),
  )
  return [...inBlocks, ...inScripts, ...inText]
})

test('there are examples of every configuration file', () => {
  const names = [...new Set(examples.map(({ name }) => name))].sort()
  expect(names).toEqual(['config.json', 'models.json', 'providers.json', 'settings.json'])
  expect(examples.length).toBeGreaterThan(8)
})

test.each(examples)('the $name in $place has no fault', async ({ name, text }) => {
  const home = mkdtempSync(join(tmpdir(), 'cass-config-'))
  try {
    writeFileSync(join(home, name), text)
    const inspected = await inspectConfigFiles(home)
    const faults = Object.values(inspected).flatMap((file) => file.faults)
    expect(faults).toEqual([])
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})
