import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseReadSections } from '../../../sources/agent/readSections.ts'
import { parseLineRange } from '../../../sources/tools/lineRange.ts'
import { read } from '../../../sources/tools/read.ts'
import { makeContext, makePlace, type Place } from './_context.ts'

function put(place: Place, name: string, content: string | Buffer): string {
  const file = path.join(place.workspace, name)
  writeFileSync(file, content)
  return file
}

async function readFiles(place: Place, ...files: object[]) {
  return await read.run({ files }, makeContext(place, { mode: 'read-only' }))
}

describe('parseLineRange', () => {
  it.each([
    ['', 1, null],
    ['  ', 1, null],
    ['35', 35, 35],
    [7, 7, 7],
    ['35-60', 35, 60],
    [' 35 - 60 ', 35, 60],
    ['35-', 35, null],
    ['-60', 1, 60],
  ])('reads %j', (text, start, end) => {
    expect(parseLineRange(text)).toEqual({ start, end })
  })

  it.each(['0', '0-3', '5-3', '-', 'a', '1-2-3', '1.5', '-0', '99999999999999999999'])(
    'refuses %j',
    (text) => {
      expect(() => parseLineRange(text)).toThrow(`invalid line range \`${text}\``)
    },
  )
})

describe('read', () => {
  it('shows numbered lines under a header with the real path', async () => {
    const place = makePlace()
    const file = put(place, 'a.txt', 'one\ntwo\nthree')
    expect(await readFiles(place, { path: 'a.txt' })).toEqual({
      ok: true,
      content: `--- ${file} lines 1-3 ---\n     1 | one\n     2 | two\n     3 | three\n`,
      changes: [],
    })
    expect((await readFiles(place, { path: 'a.txt', lines: '2-3' })).content).not.toContain('one')
    expect((await readFiles(place, { path: 'a.txt', lines: '2 - 99' })).content).toContain('lines 2-3 ---')
    expect((await readFiles(place, { path: 'a.txt', lines: 2 })).content).toContain(
      'lines 2-2 ---\n     2 | two\n',
    )
  })

  it('shows an empty file as no lines, and says when a range begins beyond the end', async () => {
    const place = makePlace()
    const file = put(place, 'a', '')
    expect((await readFiles(place, { path: 'a' })).content).toBe(`--- ${file} lines 1-0 ---\n`)
    put(place, 'b', 'x\ny\n')
    const { ok, content } = await readFiles(place, { path: 'b', lines: '3-' })
    expect({ ok, content }).toEqual({ ok: false, content: expect.stringContaining('b has 2 lines') })
  })

  it('goes on past a file that cannot be read, and fails only when none can', async () => {
    const place = makePlace()
    put(place, 'good', 'x\n')
    put(place, 'bin', Buffer.from('a\0b'))
    mkdirSync(path.join(place.workspace, 'dir'))
    execFileSync('mkfifo', [path.join(place.workspace, 'pipe')])
    const bad = [
      { path: 'missing' },
      { path: 'bin' },
      { path: 'dir' },
      { path: 'pipe' },
      { path: place.home },
    ]
    const some = await readFiles(place, ...bad, { path: 'good' })
    expect(some.ok).toBe(true)
    for (const message of [
      "cannot read 'missing': no such file or folder",
      'binary files are unsupported',
      "'dir': not a file",
      "'pipe': not a file",
      'escapes read-only roots',
    ]) {
      expect(some.content).toContain(message)
    }
    expect(parseReadSections(some.content)).toHaveLength(1)
    expect((await readFiles(place, ...bad)).ok).toBe(false)
  })

  it('says what is wrong with its arguments', async () => {
    const place = makePlace()
    const context = makeContext(place, { mode: 'read-only' })
    expect((await read.run({}, context)).content).toBe('invalid arguments: missing field `files`')
    expect((await read.run({ files: [] }, context)).content).toBe('read requires at least one file')
    expect((await read.run({ files: [{ lines: '1' }] }, context)).content).toContain(
      'missing field `files[0].path`',
    )
    expect((await read.run({ files: [{ path: 'a', lines: null }] }, context)).content).toContain(
      'no such file',
    )
  })

  it('names CRLF and encodings under a header that stays readable for programs', async () => {
    const place = makePlace()
    put(place, 'crlf', '\ufeffone\r\ntwo\r\n')
    put(place, 'latin', Buffer.from('caf\u00e9\n', 'latin1'))
    put(place, 'le', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('é\r\nx', 'utf16le')]))
    put(place, 'be', Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from('é\nx\n', 'utf16le').swap16()]))
    const { content } = await readFiles(
      place,
      ...['crlf', 'latin', 'le', 'be'].map((name) => ({ path: name })),
    )
    expect(
      parseReadSections(content).map(({ path: file, start, end }) => [path.basename(file), start, end]),
    ).toEqual([
      ['crlf', 1, 2],
      ['latin', 1, 1],
      ['le', 1, 2],
      ['be', 1, 2],
    ])
    expect(content).not.toContain('\r')
    expect(content).toContain('[byte order mark, line ends CRLF: kept by edit]\n     1 | one\n')
    expect(content).toContain('[encoding Latin-1: kept by edit]\n     1 | café\n')
    expect(content).toContain('[encoding UTF-16LE, line ends CRLF: kept by edit]\n     1 | é\n     2 | x\n')
    expect(content).toContain('[encoding UTF-16BE: kept by edit]\n     1 | é\n     2 | x\n')
  })

  it('bounds long lines and long output with a marker', async () => {
    const place = makePlace()
    put(place, 'long', `${'é'.repeat(5000)}\nnext\n`)
    expect((await readFiles(place, { path: 'long' })).content).toContain(
      `     1 | ${'é'.repeat(2000)}… [line of 10000 bytes]\n     2 | next\n`,
    )
    put(place, 'many', `${'x'.repeat(100)}\n`.repeat(10_000))
    const { content } = await readFiles(place, { path: 'many' })
    const [section] = parseReadSections(content)
    const last = section?.end ?? 0
    expect(content.length).toBeLessThan(280_000)
    expect(content).toContain(
      `truncated by Cass: the output has no room for more; read on with lines ${last + 1}-`,
    )
    expect(content).toContain(`${last} | xxx`)
    expect(content).not.toContain(`${last + 1} | xxx`)
  })

  it('says how many files found no room', async () => {
    const place = makePlace()
    put(place, 'many', `${'x'.repeat(1000)}\n`.repeat(1000))
    const { ok, content } = await readFiles(place, ...Array.from({ length: 50 }, () => ({ path: 'many' })))
    expect(ok).toBe(true)
    expect(content.length).toBeLessThan(280_000)
    expect(content).toMatch(/… truncated by Cass: the output has no room for \d+ more files\n$/)
  })

  it('reads a range of a very large file without holding it', async () => {
    const place = makePlace()
    const file = put(place, 'huge', 'first\nsecond\n')
    truncateSync(file, 3 * 1024 ** 3)
    // The zeros behind make it binary only if they are near the beginning.
    writeFileSync(file, `${'a line of text\n'.repeat(2000)}`, { flag: 'r+' })
    const before = process.memoryUsage().rss
    expect((await readFiles(place, { path: 'huge', lines: '1990-1991' })).content).toContain(
      '  1990 | a line of text\n',
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2)
  })

  it('refuses a file that is reached through a link out of the workspace', async () => {
    const place = makePlace()
    writeFileSync(path.join(place.home, 'secret'), 'x')
    symlinkSync(place.home, path.join(place.workspace, 'out'))
    const { ok, content } = await readFiles(place, { path: 'out/secret' })
    expect({ ok, content }).toEqual({
      ok: false,
      content: expect.stringContaining('escapes read-only roots'),
    })
    expect(content).toContain(`(really ${place.home}/secret)`)
  })

  it('shows the lines of any text in any ranges as a plain split does', async () => {
    const place = makePlace()
    const end = fc.constantFrom('\n', '\r\n')
    const lines = fc.array(fc.tuple(fc.string({ unit: fc.constantFrom('a', 'é', '😀', '|', ' ') }), end), {
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 5 }), fc.nat(9), async (parts, start, count) => {
        put(place, 'p', parts.map(([text, eol]) => text + eol).join(''))
        const wanted = parts.slice(start - 1, start + count).map(([text], index) => {
          return `${String(start + index).padStart(6)} | ${text}\n`
        })
        const { content } = await readFiles(place, { path: 'p', lines: `${start}-${start + count}` })
        if (wanted.length === 0 && start > 1) expect(content).toContain('beyond the end')
        else expect(content.replace(/^---.*\n(\[.*\n)?/, '')).toBe(wanted.join(''))
      }),
      { numRuns: 200 },
    )
  })
})
