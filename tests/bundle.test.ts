import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { manifest } from '../commands/manifest.ts'

interface Output {
  readonly entryPoint?: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly imports: ReadonlyArray<{
    readonly path: string
    readonly kind: string
    readonly external?: boolean
  }>
}

const metafile = new URL('../dist/meta.json', import.meta.url)
const outputs: Readonly<Record<string, Output>> = JSON.parse(readFileSync(metafile, 'utf8')).outputs

/** What a command must not load unless it is the one that needs it. */
const heavy = ['openai', 'undici', 'enquirer', 'chalk', 'diff', 'tar', 'adm-zip', '@vscode/ripgrep', 'ignore']

describe('the bin stub', () => {
  it('has no byte of any package', () => {
    expect([...packagesOf(['commands/cass.ts'])]).toEqual([])
  })
})

describe('the file of the program', () => {
  const loaded = packagesOf(['commands/main.ts'])

  it('holds every command', () => {
    const inputs = Object.keys(outputs['dist/main.cjs']?.inputs ?? {})
    expect(inputs).toEqual(expect.arrayContaining(Object.keys(manifest).map((name) => `commands/${name}.ts`)))
    expect(loaded).toContain('clipanion')
  })

  it('has no byte of a heavy package', () => {
    expect(heavy.filter((name) => loaded.has(name))).toEqual([])
  })

  it('has all it loads later beside it', () => {
    const later = outputs['dist/main.cjs']?.imports
      .map(({ path }) => path)
      .filter((path) => path.startsWith('./'))
    for (const path of later ?? []) expect(Object.keys(outputs)).toContain(`dist/${path.slice(2)}`)
    expect(later).toEqual(expect.arrayContaining(['./package-openai.js', './package-diff.js']))
  })
})

describe('the library', () => {
  it('loads no heavy package before it is used', () => {
    const heavyOnes = packagesOf(['sources/index.ts'])
    expect(heavy.filter((name) => heavyOnes.has(name))).toEqual([])
  })

  it('finds the heavy packages in chunks of their own', () => {
    const everything = new Set(Object.keys(outputs).flatMap((path) => packagesIn(path)))
    for (const name of ['openai', 'undici', 'enquirer', 'chalk', 'diff', 'ignore']) {
      expect(everything, name).toContain(name)
    }
  })
})

/** The packages in the chunks of these modules, and in all that those import statically. */
function packagesOf(entries: ReadonlyArray<string>): ReadonlySet<string> {
  const waiting = entries.map(findChunk)
  const seen = new Set<string>()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const statically = outputs[path]?.imports.filter(
      ({ kind, external }) => kind === 'import-statement' && !external,
    )
    waiting.push(...(statically ?? []).map((each) => each.path))
  }
  return new Set([...seen].flatMap(packagesIn))
}

function findChunk(entry: string): string {
  const found = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entry)
  if (found === undefined) throw new Error(`'${entry}' has no chunk of its own`)
  return found
}

function packagesIn(path: string): string[] {
  const { inputs = {}, imports = [] } = outputs[path] ?? {}
  const bundled = Object.keys(inputs).flatMap(
    (input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? [],
  )
  const external = imports
    .filter((each) => each.external && each.kind === 'import-statement')
    .map((each) => each.path)
  return [...bundled, ...external.filter((name) => !name.startsWith('node:'))]
}
