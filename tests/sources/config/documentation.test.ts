import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inspectConfigFiles, requireSound } from '../../../sources/config/files.ts'
import { resolveConfig } from '../../../sources/config/resolve.ts'
import { defaultSettings } from '../../../sources/config/settingsFile.ts'
import { validateConfig } from '../../../sources/config/validate.ts'
import { makeHome } from './_config.ts'

const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
const folder = new URL('../../../sources/config/', import.meta.url)
/** Gives findings of its own to the same report. */
const installation = new URL('../../../sources/session/checkInstallation.ts', import.meta.url)

/** The blocks of the page that are files, by their names. */
function examples(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...page.matchAll(/^```json (\S+)\n([\s\S]*?)^```$/gm)].map(([, name, text]) => [name, text]),
  )
}

/** The codes that the modules give to findings and errors. */
function codesInSources(): ReadonlyArray<string> {
  const call =
    /(?:okFinding|fault|warn|usageError|broken|CassError|makeFault|openToOthers|problem)\(([^()]*)/g
  const field = /code: '([a-z_]+)'/g
  const files = [...readdirSync(folder).map((name) => new URL(name, folder)), installation]
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  const inCalls = texts.flatMap((text) =>
    [...text.matchAll(call)].flatMap(([, list = '']) => {
      const strings = [...list.matchAll(/'([^']*)'/g)].map(([, string = '']) => string)
      return strings.filter((string) => /^[a-z]+(?:_[a-z]+)+$/.test(string)).slice(0, 1)
    }),
  )
  const inFields = texts.flatMap((text) => [...text.matchAll(field)].map(([, code = '']) => code))
  return [...new Set([...inCalls, ...inFields])].sort()
}

describe('docs/configuration.md', () => {
  test('has examples that are sound together', async () => {
    const files = examples()
    expect(Object.keys(files).sort()).toEqual([
      'config.json',
      'models.json',
      'providers.json',
      'settings.json',
    ])
    const inspected = await inspectConfigFiles(makeHome(files))
    expect(Object.values(inspected).flatMap(({ faults }) => faults)).toEqual([])
    expect(validateConfig({ ...inspected })).toEqual([])
    expect(requireSound(inspected).settings).toEqual(defaultSettings)
    const resolved = resolveConfig({ files: requireSound(inspected), overrides: {}, env: {} })
    expect(resolved).toMatchObject({
      provider: { id: 'openai' },
      model: 'gpt-5.5',
      access_mode: 'workspace-edit',
    })
  })

  test('explains every code', () => {
    const codes = codesInSources()
    expect(codes.length).toBeGreaterThan(60)
    expect(codes).toContain('journal_hole')
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([])
  })
})
