import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

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
/** What the program loads before it knows the command. */
const start = ['commands/cass.ts', 'commands/main.ts', 'commands/context.ts']

describe.each(['branches', 'branch', 'checkpoints', 'switch', 'resolve', 'fsck', 'show'])(
  'cass %s',
  (command) => {
    it('loads none of the heavy packages', () => {
      const loaded = packagesOf([...start, `commands/${command}.ts`])
      expect(loaded).toContain('clipanion')
      expect(heavy.filter((name) => loaded.has(name))).toEqual([])
    })
  },
)

describe('the build', () => {
  it('loads nothing but our own code for `cass --version`', () => {
    expect([...packagesOf(['commands/cass.ts'])]).toEqual([])
  })

  it('is split: what loads on demand is found where it is wanted', () => {
    const everything = new Set(Object.keys(outputs).flatMap((path) => packagesIn(path)))
    for (const name of ['openai', 'undici', 'enquirer', 'chalk', 'diff'])
      expect(everything, name).toContain(name)
  })
})

/** The packages of the chunks of these modules, and of all that they import statically. */
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
