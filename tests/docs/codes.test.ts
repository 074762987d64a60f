import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, repository } from './_pages.ts'

const modules = ['sources', 'commands'].flatMap((folder) =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => ({
      path: `${folder}/${name.replaceAll('\\', '/')}`,
      text: readFileSync(join(repository, folder, name), 'utf8'),
    })),
)

/** Modules that make an error of a code that they were given; `codesIn` must know how they are called. */
const makersOfErrors = [
  'sources/agent/provider/errors.ts', // makeProviderError: the codes of `ProviderErrorCode`
  'sources/config/resolve.ts', // usageError(code, …)
]

/** The code of each error that a module makes. */
function codesIn({ path, text }: { readonly path: string; readonly text: string }): string[] {
  const patterns = [/new (?:Cass|Provider)Error\(\s*'([a-z_]+)'/g, /code: '([a-z_]+)', kind: 'failed'/g]
  if (path === 'sources/agent/provider/errors.ts') patterns.push(/^ {2}\| '(provider_[a-z_]+)'/gm)
  if (path === 'sources/config/resolve.ts') patterns.push(/usageError\(\s*'([a-z_]+)'/g)
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, code]) => code!))
}

/** The codes in the first column of the tables below a heading of a page. */
function listed(path: string, heading: string): string[] {
  const { text } = readPage(path)
  const start = text.indexOf(`\n${heading}\n`)
  expect(start, `${path} has the heading '${heading}'`).toBeGreaterThan(-1)
  const end = text.slice(start + 1).search(/\n#{1,3} /)
  const section = end === -1 ? text.slice(start) : text.slice(start, start + 1 + end)
  return [...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!),
  )
}

const sorted = (codes: Iterable<string>) => [...new Set(codes)].sort()

test('docs/plumbing.md lists every error code, and no other', () => {
  const thrown = sorted(modules.flatMap(codesIn))
  expect(thrown.length).toBeGreaterThan(60)
  const table = listed('docs/plumbing.md', '## Error codes')
  expect(sorted(table)).toEqual(thrown)
  expect(table.length, 'each code once').toBe(new Set(table).size)
})

test('every error whose code is not written in place comes from a module that this test knows', () => {
  const dynamic = modules
    .filter(({ text }) => /new (?:Cass|Provider)Error\(\s*[^'\s)]/.test(text))
    .map(({ path }) => path)
  expect(dynamic.sort()).toEqual(makersOfErrors)
})

test('docs/plumbing.md lists every notice of a turn, and no other', () => {
  const told = modules
    .filter(({ path }) => /^sources\/(agent|session)\//.test(path))
    .flatMap(({ path, text }) => [
      ...text.matchAll(
        path.endsWith('/turnNotices.ts') ? /code: '([a-z_]+)'/g : /type: 'notice',\s*code: '([a-z_]+)'/g,
      ),
      ...text.matchAll(/onNotice\(\{\s*code: '([a-z_]+)'/g),
    ])
    .map(([, code]) => code!)
  expect(sorted(listed('docs/plumbing.md', '### Notices'))).toEqual(sorted(told))
})

test('docs/plumbing.md lists every finding of fsck, and no other', () => {
  const text = modules.find(({ path }) => path === 'sources/conversation/checkLog.ts')?.text ?? ''
  const found = [...text.matchAll(/(?:damage|note)\(\s*'([a-z_]+)'/g)].map(([, code]) => code!)
  expect(found.length).toBeGreaterThan(5)
  expect(sorted(listed('docs/plumbing.md', '### fsck'))).toEqual(sorted(found))
})

test('docs/troubleshooting.md says what to do about every error code, by name or by its first word', () => {
  const { text } = readPage('docs/troubleshooting.md')
  const prefixes = [...text.matchAll(/`([a-z]+_)…`/g)].map(([, prefix]) => prefix!)
  const missing = sorted(modules.flatMap(codesIn)).filter(
    (code) => !text.includes(`\`${code}\``) && !prefixes.some((prefix) => code.startsWith(prefix)),
  )
  expect(missing).toEqual([])
})
