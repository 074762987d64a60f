import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundledRipgrep, grep, makeGrep } from '../../../sources/tools/grep.ts'
import { searchWithScript } from '../../../sources/tools/grepScript.ts'
import { type RequestedCall, runCall, tools } from '../../../sources/tools/registry.ts'
import type { ToolContext } from '../../../sources/tools/tool.ts'
import type { AccessMode } from '../../../sources/workspace/policy.ts'
import { makeContext, makePlace, type Place } from './_context.ts'

const key = 'sk-literal-0123456789'
const modes: ReadonlyArray<AccessMode> = ['read-only', 'workspace-edit', 'full-access']
const engines = [bundledRipgrep, searchWithScript]

/** A workspace that is the home of the user, with the folder of cass and its docs in it, and ways that lead there. */
function makeHome(name = 'work'): Place {
  const place = makePlace()
  const workspace = path.join(place.root, name)
  const cassHome = path.join(workspace, '.cass')
  const docs = path.join(cassHome, 'docs-cass')
  const put = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(workspace, file)), { recursive: true })
    writeFileSync(path.join(workspace, file), text)
  }
  put('.cass/docs-cass/a.md', 'open: the manual\n')
  put('.cass/providers.json', `{"api_key": "${key}"}\n`)
  put('.cass/conversations/c.jsonl', `${key} open: another chat\n`)
  put('.cass/deep/.cass/x', `${key}\n`)
  put('sub/a.txt', 'open: mine\n')
  put('sub/.cass/a.txt', 'open: only called so\n')
  put('.cassette', 'open: beside\n')
  put('dotfiles/config.json', `{"base_url": "https://x/?${key}"}\n`)
  const at = (file: string) => path.join(workspace, file)
  symlinkSync('../dotfiles/config.json', at('.cass/config.json'))
  symlinkSync('.cass', at('folder'))
  symlinkSync('.cass/providers.json', at('file'))
  symlinkSync(path.join(cassHome, 'conversations'), at('sub/chats'))
  symlinkSync(place.root, at('sub/up'))
  symlinkSync(workspace, path.join(place.root, 'alias'))
  symlinkSync('../providers.json', path.join(docs, 'late.md'))
  linkSync(at('.cass/providers.json'), at('second'))
  return { ...place, workspace, cassHome, docs, home: workspace }
}

/** Ways to what no tool may show. */
const ways = [
  '.cass/providers.json',
  '.cass/conversations/c.jsonl',
  '.cass/config.json',
  '~/.cass/providers.json',
  'sub/../.cass/./providers.json',
  '.cass/docs-cass/../providers.json',
  '.cass/docs-cass/late.md',
  'folder/providers.json',
  'folder/docs-cass/../conversations/c.jsonl',
  'file',
  'second',
  'dotfiles/config.json',
  'sub/chats/c.jsonl',
  'sub/up/work/.cass/providers.json',
  '../alias/.cass/providers.json',
  '../work/folder/deep/.cass/x',
]
const folders = ['.cass', '.cass/', '~/.cass', 'folder', 'sub/chats', 'sub/../.cass/deep', '../alias/folder']

function callsOf(asked: string): RequestedCall[] {
  return [
    { name: 'ls', input: { path: asked } },
    { name: 'read', input: { files: [{ path: asked }] } },
    { name: 'read', input: { files: [{ path: 'sub/a.txt' }, { path: asked, lines: '1-' }] } },
    { name: 'grep', input: { query: 'sk-', paths: [asked] } },
    { name: 'grep', input: { query: '.', regex: true, paths: ['.', asked], context_lines: 5 } },
    { name: 'edit', input: { path: asked, edits: [{ old_text: '"api_key" :', new_text: 'x' }] } },
    { name: 'edit', input: { path: asked, edits: [{ old_text: '{', new_text: '{ ' }] } },
    { name: 'write', input: { path: asked, content: 'x' } },
  ]
}

describe.each(modes)('the folder of cass in the workspace, in %s mode', (mode) => {
  it('is never in the result of a tool but the shell, whatever way is asked for', async () => {
    const place = makeHome()
    const context = makeContext(place, { mode })
    for (const call of [...ways, ...folders, '.', '~', '..', place.root, 'sub/up'].flatMap(callsOf)) {
      const results = [await runCall(call, context, true)]
      // A tool asks for itself as well.
      const tool = tools.find(({ name }) => name === call.name)
      if (tool !== undefined) results.push(await tool.run(call.input, context))
      for (const engine of call.name === 'grep' ? engines : []) {
        results.push(await makeGrep([engine]).run(call.input, context))
      }
      for (const { content } of results) expect([call, content.includes(key)]).toEqual([call, false])
    }
    expect(readFileSync(path.join(place.cassHome, 'providers.json'), 'utf8')).toContain(key)
  })

  it('refuses each way, and says why', async () => {
    const place = makeHome()
    const context = makeContext(place, { mode })
    for (const asked of ways) {
      const { ok, content } = await runCall(
        { name: 'read', input: { files: [{ path: asked }] } },
        context,
        true,
      )
      expect({ asked, ok, content }).toEqual({
        asked,
        ok: false,
        content: expect.stringContaining('reads are blocked under the folder of cass itself: '),
      })
    }
    for (const asked of folders) {
      for (const call of [
        { name: 'ls', input: { path: asked } },
        { name: 'grep', input: { query: 'x', paths: ['.', asked] } },
      ]) {
        const { ok, content } = await runCall(call, context, true)
        expect({ asked, ok, content }).toEqual({
          asked,
          ok: false,
          content: expect.stringContaining('reads are blocked under the folder of cass itself: '),
        })
      }
    }
  })

  it('is seen by its name in a listing, and its docs can be read', async () => {
    const place = makeHome()
    const context = makeContext(place, { mode })
    const call = (name: string, input: object) => runCall({ name, input }, context, true)
    expect((await call('ls', {})).content).toMatch(/^ {2}\.cass\/ +dir$/m)
    expect((await call('ls', { path: '.cass/docs-cass' })).content).toContain('a.md')
    expect((await call('read', { files: [{ path: 'folder/docs-cass/a.md' }] })).content).toContain('manual')
    expect((await call('grep', { query: 'open', paths: ['.cass/docs-cass'] })).content).toBe(
      `${place.docs}/a.md:1: open: the manual\n`,
    )
  })

  it('is left out by every engine from all folders above, and only it', async () => {
    // The other name has all that means something in a glob.
    for (const name of ['work', 'w[o]rk {a,b} *?! \\d ']) {
      const place = makeHome(name)
      mkdirSync(path.join(place.workspace, '.CASS'), { recursive: true })
      writeFileSync(path.join(place.workspace, '.CASS/other'), 'open: taken for the same\n')
      const context = makeContext(place, { mode })
      const above = mode === 'full-access' ? [['..'], [place.root], ['../alias', '.', 'sub/up']] : []
      for (const paths of [['.'], ['~', 'sub'], ['../alias'], ...above]) {
        for (const found of await searchWithEach({ query: 'open', paths }, context)) {
          expect([name, paths, found]).toEqual([
            name,
            paths,
            '.cassette:1: open: beside\nsub/.cass/a.txt:1: open: only called so\nsub/a.txt:1: open: mine\n',
          ])
        }
      }
      for (const found of await searchWithEach(
        { query: 'manual|mine', regex: true, paths: ['.', '.cass/docs-cass'] },
        context,
      )) {
        expect(found).toBe('sub/a.txt:1: open: mine\n.cass/docs-cass/a.md:1: open: the manual\n')
      }
    }
  })
})

it.each(engines)('no engine even opens what is in the folder of cass', async (engine) => {
  const place = makeHome('w[o]rk {a,b} *?! \\d ')
  const search = {
    ...{ query: 'open|sk-', isRegex: true, isCaseSensitive: true, contextLines: 0, mostMatches: 9 },
    ...{ roots: [place.root], closedFolder: place.cassHome, home: place.home, environment: {} },
  }
  const found: string[] = []
  for await (const file of engine(search, new AbortController().signal)) {
    found.push(path.relative(place.workspace, file.path.toString('utf8')))
  }
  // `dotfiles` and `second` are its files only by another name, which the tool itself leaves out.
  expect(found.sort()).toEqual([
    '.cassette',
    'dotfiles/config.json',
    'second',
    'sub/.cass/a.txt',
    'sub/a.txt',
  ])
})

async function searchWithEach(input: object, context: ToolContext): Promise<string[]> {
  const results = await Promise.all(engines.map((engine) => makeGrep([engine]).run(input, context)))
  const whole = await grep.run(input, context)
  return [...results, whole].map(({ content }) => content.replaceAll(`${context.cwd}/`, ''))
}

it.skipIf(process.platform !== 'linux')('shows no environment of a process in full-access', async () => {
  const context = makeContext(makePlace(), { mode: 'full-access' })
  for (const name of [`/proc/${process.pid}/environ`, '/proc/self/environ', '/proc/thread-self/environ']) {
    for (const call of [callsOf(name)[1]!, callsOf(name)[3]!]) {
      expect(await runCall(call, context, true)).toMatchObject({
        ok: false,
        content: expect.stringContaining('reads are blocked of what a process has in memory'),
      })
    }
  }
})
