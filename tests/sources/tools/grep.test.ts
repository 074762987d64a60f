import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundledRipgrep, grep, makeGrep, systemRipgrep } from '../../../sources/tools/grep.ts'
import { searchWithScript } from '../../../sources/tools/grepScript.ts'
import type { GrepEngine } from '../../../sources/tools/grepSearch.ts'
import { makeContext, makePlace, type Place } from './_context.ts'

const engines: ReadonlyArray<[string, GrepEngine]> = [
  ['ripgrep', bundledRipgrep],
  ['script', searchWithScript],
]

function put(place: Place, name: string, content: string | Buffer): void {
  const file = path.join(place.workspace, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, content)
}

async function search(place: Place, engine: GrepEngine, input: object): Promise<string> {
  const { ok, content } = await makeGrep([engine]).run(input, makeContext(place, { mode: 'read-only' }))
  return `${ok ? '' : 'FAILED '}${content.replaceAll(`${place.workspace}/`, '')}`
}

describe.each(engines)('grep with %s', (_, engine) => {
  it('finds a text without regard to case, sorted by path', async () => {
    const place = makePlace()
    put(place, 'b.txt', 'one\nTwo\n')
    put(place, 'a/z.txt', 'two')
    put(place, 'a.txt', 'x two\ntwo two\r\n')
    expect(await search(place, engine, { query: 'two' })).toBe(
      'a/z.txt:1: two\na.txt:1: x two\na.txt:2: two two\nb.txt:2: Two\n',
    )
    expect(await search(place, engine, { query: 'Two', case_sensitive: true })).toBe('b.txt:2: Two\n')
  })

  it('takes a query as it is unless it is a regular expression', async () => {
    const place = makePlace()
    put(place, 'a', 'a.c\nabc\n-x\n')
    expect(await search(place, engine, { query: 'a.c' })).toBe('a:1: a.c\n')
    expect(await search(place, engine, { query: 'a.c$', regex: true })).toBe('a:1: a.c\na:2: abc\n')
    expect(await search(place, engine, { query: 'b(?=c)', regex: true })).toBe('a:2: abc\n')
    expect(await search(place, engine, { query: '-x' })).toBe('a:3: -x\n')
    expect(await search(place, engine, { query: '(' })).toBe('no matches')
    expect(await search(place, engine, { query: '(', regex: true })).toMatch(/^FAILED grep failed: /)
  })

  it('shows lines around a match, repeating those that two matches share', async () => {
    const place = makePlace()
    put(place, 'a', '1\nhit\n3\nhit\n5\n')
    expect(await search(place, engine, { query: 'hit', context_lines: 1 })).toBe(
      '--- a:2 ---\n      1 | 1\n>     2 | hit\n      3 | 3\n--- a:4 ---\n      3 | 3\n>     4 | hit\n      5 | 5\n',
    )
  })

  it('stops after the wanted number of matches and says so only when there are more', async () => {
    const place = makePlace()
    put(place, 'a', 'x\nx\nx\n')
    put(place, 'b', 'x\n')
    expect(await search(place, engine, { query: 'x', max_matches: 2 })).toBe(
      'a:1: x\na:2: x\n… stopped after 2 matches\n',
    )
    expect(await search(place, engine, { query: 'x', max_matches: 3 })).toMatch(
      /… stopped after 3 matches\n$/,
    )
    expect(await search(place, engine, { query: 'x', max_matches: 4 })).not.toContain('stopped')
    expect(await search(place, engine, { query: 'x', max_matches: 0 })).toContain('stopped after 1 matches')
  })

  it('leaves out what is ignored, binary, or in a folder of foreign files', async () => {
    const place = makePlace()
    put(place, '.gitignore', '*.log\n!keep.log\n/out/\n')
    put(place, 'a.log', 'x')
    put(place, 'keep.log', 'x')
    put(place, 'out/a', 'x')
    put(place, 'sub/out/a', 'x')
    put(place, 'sub/.gitignore', 'b\n')
    put(place, 'sub/b', 'x')
    put(place, '.hidden', 'x')
    put(place, 'dist/.keep', '')
    put(place, '.ignore', '!own.log\n')
    put(place, 'own.log', 'x')
    put(place, '.git/a', 'x')
    for (const name of ['target', 'node_modules', 'vendor', '.cache']) put(place, `sub/${name}/a`, 'x')
    put(place, 'bin', Buffer.from('x\nx\0'))
    put(place, 'late', Buffer.concat([Buffer.from('x\n'.repeat(100_000)), Buffer.from([0])]))
    symlinkSync('sub', path.join(place.workspace, 'link'))
    expect(await search(place, engine, { query: 'x' })).toBe(
      '.hidden:1: x\nkeep.log:1: x\nown.log:1: x\nsub/out/a:1: x\n',
    )
    // Named, they are searched.
    expect(await search(place, engine, { query: 'x', paths: ['sub/vendor', 'out', 'a.log'] })).toBe(
      'a.log:1: x\nout/a:1: x\nsub/vendor/a:1: x\n',
    )
    expect(await search(place, engine, { query: 'x', paths: ['bin'] })).toBe('no matches')
  })

  it('searches an ignored folder that is named, still without what is ignored in it', async () => {
    const place = makePlace()
    put(place, '.gitignore', 'out\n\\[\\*\\]/\n*.log\ndist\n')
    for (const name of [
      'out/deep/a',
      'out/deep/a.log',
      'out/deep/dist/a',
      'out/deep/sub/a',
      '[*]/a',
      '[*]/b.log',
    ]) {
      put(place, name, 'x')
    }
    expect(await search(place, engine, { query: 'x' })).toBe('no matches')
    expect(await search(place, engine, { query: 'x', paths: ['out/deep', '[*]'] })).toBe(
      '[*]/a:1: x\nout/deep/a:1: x\nout/deep/sub/a:1: x\n',
    )
  })

  it('searches a project that lies below a folder called target', async () => {
    const place = makePlace()
    const workspace = path.join(place.workspace, 'target', 'vendor', 'mine')
    mkdirSync(workspace, { recursive: true })
    writeFileSync(path.join(workspace, 'a'), 'x\n')
    const context = { ...makeContext({ ...place, workspace }, { mode: 'read-only' }) }
    expect((await makeGrep([engine]).run({ query: 'x' }, context)).content).toBe(`${workspace}/a:1: x\n`)
  })

  it('reads UTF-16 and Latin-1, and shows long lines as a window around the match', async () => {
    const place = makePlace()
    put(place, 'utf16', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('hit é\r\n', 'utf16le')]))
    put(place, 'latin', Buffer.from('hit é\n', 'latin1'))
    put(place, 'long', `${'a'.repeat(5000)}hit${'b'.repeat(200_000)}\n`)
    put(place, 'wide', `${'é'.repeat(1000)}hit${'😀'.repeat(1000)}\n`)
    const found = await search(place, engine, { query: 'hit' })
    expect(found).toContain('utf16:1: hit é\n')
    expect(found).toContain('latin:1: hit é\n')
    expect(found).toContain(`long:1: …${'a'.repeat(100)}hit${'b'.repeat(397)}…\n`)
    expect(found).toContain(`wide:1: …${'é'.repeat(100)}hit`)
  })

  it('stops for its size as well', async () => {
    const place = makePlace()
    put(place, 'a', `${'x'.repeat(400)}\n`.repeat(1000))
    const found = await search(place, engine, { query: 'x', max_matches: 1000 })
    expect(found.length).toBeLessThan(140_000)
    expect(found).toMatch(/… stopped after \d+ matches: the output has no room for more/)
  })

  it('shows each file once when paths lie in one another', async () => {
    const place = makePlace()
    put(place, 'a/b', 'x\n')
    expect(await search(place, engine, { query: 'x', paths: ['a', '.', 'a/b'] })).toBe('a/b:1: x\n')
  })

  // The file systems of macOS take no such names.
  it.skipIf(process.platform === 'darwin')(
    'is not stopped by a file name with a line break, or one that is not UTF-8',
    async () => {
      const place = makePlace()
      put(place, 'a\nb', 'x\n')
      writeFileSync(Buffer.concat([Buffer.from(`${place.workspace}/z`), Buffer.from([0xff])]), 'x\n')
      const found = await search(place, engine, { query: 'x' })
      expect(found).toContain('a\\nb":1: x')
      expect(found).toContain('z\\xff":1: x')
    },
  )

  it('ends at once when it is cancelled', async () => {
    const place = makePlace()
    put(place, 'a', 'x\n')
    const controller = new AbortController()
    const context = makeContext(place, { mode: 'read-only', signal: controller.signal })
    const running = makeGrep([engine]).run({ query: 'x' }, context)
    controller.abort()
    await expect(running).rejects.toThrow()
  })
})

describe('grep', () => {
  it('finds the same with every engine in a tree of many kinds', async () => {
    const place = makePlace()
    for (let index = 0; index < 60; index += 1) {
      put(place, `d${index % 7}/e${index % 3}/f-${index}.txt`, `alpha ${index}\nbeta\r\nAlpha\n`)
    }
    put(place, 'd1/.gitignore', 'e0/\n*.tmp\n')
    put(place, 'd2/.ignore', 'f-2*\n')
    put(place, 'd3.txt', 'alpha')
    for (const input of [
      { query: 'alpha' },
      { query: '^alpha [1-3]', regex: true, context_lines: 2 },
      { query: 'alpha', max_matches: 17 },
    ]) {
      const results = await Promise.all(engines.map(([, engine]) => search(place, engine, input)))
      expect(results[0]).toBe(results[1])
      expect(results[0]).toContain('f-')
    }
  })

  it('uses the next engine when one cannot be started', async () => {
    const place = makePlace()
    put(place, 'a', 'x\n')
    const context = makeContext(place, { mode: 'read-only', environment: { PATH: '/nonexistent' } })
    const found = await makeGrep([systemRipgrep, searchWithScript]).run({ query: 'x' }, context)
    expect(found.content).toBe(`${place.workspace}/a:1: x\n`)
  })

  it('uses the next engine when the ripgrep of the system is too old', async () => {
    const place = makePlace()
    put(place, 'a', 'x\n')
    const bin = path.join(place.root, 'bin')
    mkdirSync(bin)
    writeFileSync(path.join(bin, 'rg'), '#!/bin/sh\necho "rg: unrecognized flag --engine" >&2\nexit 2\n', {
      mode: 0o755,
    })
    const context = makeContext(place, { mode: 'read-only', environment: { PATH: `${bin}:/bin:/usr/bin` } })
    const found = await makeGrep([systemRipgrep, searchWithScript]).run({ query: 'x' }, context)
    expect(found.content).toBe(`${place.workspace}/a:1: x\n`)
  })

  it('keeps to the ignore file that the user has for all of git', async () => {
    const place = makePlace()
    put(place, 'a.own', 'x\n')
    put(place, 'b', 'x\n')
    mkdirSync(path.join(place.home, '.config/git'), { recursive: true })
    writeFileSync(path.join(place.home, '.config/git/ignore'), '*.own\n')
    for (const [, engine] of engines) expect(await search(place, engine, { query: 'x' })).toBe('b:1: x\n')
    writeFileSync(path.join(place.home, '.gitconfig'), '[core]\n\texcludesFile = ~/mine\n')
    writeFileSync(path.join(place.home, 'mine'), 'b\n')
    for (const [, engine] of engines) expect(await search(place, engine, { query: 'x' })).toBe('a.own:1: x\n')
  })

  it('gives up on a regular expression that backtracks without end', async () => {
    const place = makePlace()
    put(place, 'a', `${'a'.repeat(40)}!\n`)
    expect(await search(place, searchWithScript, { query: '(a+)+$', regex: true })).toContain(
      'takes too long',
    )
  })

  it('says what is wrong with its arguments', async () => {
    const place = makePlace()
    const context = makeContext(place, { mode: 'read-only' })
    const messages = [
      [{}, 'missing field `query`'],
      [{ query: '' }, 'grep query must not be empty'],
      [{ query: 'a\nb' }, 'line by line'],
      [{ query: 'a', paths: 'b' }, 'field `paths`'],
      [{ query: 'a', paths: ['missing'] }, 'no such file or folder'],
      [{ query: 'a', paths: ['.', place.home] }, 'escapes read-only root'],
    ] as const
    for (const [input, message] of messages) {
      const { ok, content } = await grep.run(input, context)
      expect({ ok, content }).toEqual({ ok: false, content: expect.stringContaining(message) })
    }
  })

  it.skipIf(process.getuid?.() === 0)('goes on past a file that may not be read', async () => {
    const place = makePlace()
    put(place, 'a', 'x\n')
    put(place, 'b', 'x\n')
    chmodSync(path.join(place.workspace, 'a'), 0)
    for (const [, engine] of engines) expect(await search(place, engine, { query: 'x' })).toBe('b:1: x\n')
  })
})
