import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { edit } from '../../../sources/tools/edit.ts'
import { replaceAll } from '../../../sources/tools/replace.ts'
import { makeContext, makeEdits, makePlace, type Place } from './_context.ts'

function put(place: Place, name: string, content: string | Buffer): string {
  const file = path.join(place.workspace, name)
  writeFileSync(file, content)
  return file
}

async function change(place: Place, name: string, ...pairs: [string, string][]) {
  const edits = pairs.map(([old_text, new_text]) => ({ old_text, new_text }))
  return await edit.run({ path: name, edits }, makeContext(place, { mode: 'workspace-edit' }))
}

describe('edit', () => {
  it('replaces exact text and answers with a unified diff of what changed only', async () => {
    const place = makePlace()
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
    const file = put(place, 'a', `${lines.join('\n')}\nbeta\nend\n`)
    const outcome = await change(place, 'a', ['beta', 'BETA\nand more'])
    expect(outcome).toEqual({
      ok: true,
      content: [
        `applied 1 edit(s) to ${file}`,
        '',
        `--- ${file} before`,
        `+++ ${file} after`,
        '@@ -38,5 +38,6 @@',
        ' line 37',
        ' line 38',
        ' line 39',
        '-beta',
        '+BETA',
        '+and more',
        ' end',
        '',
      ].join('\n'),
      changes: [{ path: file, added: 2, removed: 1 }],
    })
    expect(place.published).toEqual([file])
  })

  it('writes nothing when one of its edits fails', async () => {
    const place = makePlace()
    const file = put(place, 'a', 'alpha\nbeta\n')
    const outcome = await change(place, 'a', ['alpha', 'ALPHA'], ['missing', 'x'])
    expect(outcome.ok).toBe(false)
    expect(outcome.content).toContain('edits[1]: old_text not found: "missing"')
    expect(readFileSync(file, 'utf8')).toBe('alpha\nbeta\n')
    expect(place.published).toEqual([])
  })

  it('keeps bytes outside the edit, the mode, and the kind of line ends, mark and encoding', async () => {
    const place = makePlace()
    const wide = (text: string) => Buffer.from(text, 'utf16le')
    const cases: [string, Buffer, Buffer][] = [
      ['crlf', Buffer.from('\ufeffa\r\nb\r\nc\nd'), Buffer.from('\ufeffX\r\nY\r\nc\nd')],
      ['latin', Buffer.from('é a\nb\n', 'latin1'), Buffer.from('é X\nY\n', 'latin1')],
      [
        'le',
        Buffer.concat([wide('\ufeffé a\r\nb'), Buffer.from([7])]),
        Buffer.concat([wide('\ufeffé X\r\nY'), Buffer.from([7])]),
      ],
      ['be', wide('\ufeffé a\nb').swap16(), wide('\ufeffé X\nY').swap16()],
      [
        'mixed',
        Buffer.concat([Buffer.from('é a\nb\n'), Buffer.from([0xff])]),
        Buffer.concat([Buffer.from('é X\nY\n'), Buffer.from([0xff])]),
      ],
    ]
    for (const [name, before, after] of cases) {
      const file = put(place, name, before)
      chmodSync(file, 0o755)
      expect(await change(place, name, ['a\nb', 'X\nY'])).toMatchObject({ ok: true })
      expect([name, readFileSync(file)]).toEqual([name, after])
      expect(statSync(file).mode & 0o777).toBe(0o755)
    }
  })

  it('finds text with an accent also in a file that is not UTF-8 everywhere', async () => {
    const place = makePlace()
    const file = put(place, 'a', Buffer.concat([Buffer.from('é a\n'), Buffer.from([0xff])]))
    expect(await change(place, 'a', ['é a', 'ö b'])).toMatchObject({ ok: true })
    expect(readFileSync(file)).toEqual(Buffer.concat([Buffer.from('ö b\n'), Buffer.from([0xff])]))
  })

  it('refuses characters that a Latin-1 file cannot hold', async () => {
    const place = makePlace()
    put(place, 'a', Buffer.from('é a\n', 'latin1'))
    expect(await change(place, 'a', ['a', '→'])).toMatchObject({
      ok: false,
      content: expect.stringContaining('Latin-1'),
    })
  })

  it('shows the nearest text that does exist', async () => {
    const place = makePlace()
    put(place, 'a', 'function f() {\n  return  one\n}\n\nfunction g() {\n\treturn two\n}\n')
    expect((await change(place, 'a', ['function g() {\n  return two\n}', 'x'])).content).toContain(
      'the nearest text, lines 5-7 (only white space differs):\n     5 | function g() {\n     6 | \treturn two\n     7 | }',
    )
    expect((await change(place, 'a', ['  return ome', 'x'])).content).toContain('the nearest text, lines 2-2')
    expect((await change(place, 'a', ['zzzzz qqqq', 'x'])).content).toContain(
      'nothing in the file is like it',
    )
    const long = await change(place, 'a', [`function g() {\n${'y'.repeat(100_000)}`, 'x'])
    expect(long.content.length).toBeLessThan(1000)
  })

  it('refuses what is not there once, overlaps, is empty, or is no text file', async () => {
    const place = makePlace()
    put(place, 'a', 'aaa\nb\nb\n')
    put(place, 'bin', Buffer.from('a\0'))
    mkdirSync(path.join(place.workspace, 'dir'))
    const failures: [string, [string, string][], string][] = [
      ['a', [['aa', 'x']], 'old_text is not unique: "aa"\nit begins at lines 1, 1'],
      ['a', [['b', 'x']], 'old_text is not unique: "b"\nit begins at lines 2, 3'],
      ['a', [['', 'x']], 'old_text must not be empty'],
      ['a', [], 'edit requires at least one replacement'],
      [
        'a',
        [
          ['aaa\nb', 'x'],
          ['b\nb', 'y'],
        ],
        'edits overlap; no changes written',
      ],
      [
        'a',
        [
          ['aaa', 'x'],
          ['aaa', 'y'],
        ],
        'edits overlap; no changes written',
      ],
      ['bin', [['a', 'x']], 'binary files are unsupported'],
      ['dir', [['a', 'x']], 'not a file'],
      ['missing', [['a', 'x']], 'no such file'],
      ['.git/config', [['a', 'x']], "writes are blocked in git's own files"],
    ]
    for (const [name, pairs, message] of failures) {
      const { ok, content } = await change(place, name, ...pairs)
      expect({ ok, content }).toEqual({ ok: false, content: expect.stringContaining(message) })
    }
    expect(place.published).toEqual([])
  })

  it('publishes nothing when nothing changes', async () => {
    const place = makePlace()
    put(place, 'a', 'x\n')
    const outcome = await change(place, 'a', ['x', 'x'])
    expect(outcome).toMatchObject({
      ok: true,
      changes: [],
      content: expect.stringContaining('nothing changed'),
    })
    expect(place.published).toEqual([])
  })

  it('says so when the file changed in between, and loses nothing', async () => {
    const place = makePlace()
    const file = put(place, 'a', 'x\n')
    const sink = makeEdits(place)
    const edits = {
      ...sink,
      observe: async (real: string) => {
        const observed = await sink.observe(real)
        writeFileSync(real, 'theirs\n')
        return observed
      },
    }
    const context = makeContext(place, { mode: 'workspace-edit', edits })
    const outcome = await edit.run({ path: 'a', edits: [{ old_text: 'x', new_text: 'y' }] }, context)
    expect(outcome).toMatchObject({
      ok: false,
      content: expect.stringContaining('file changed after it was read'),
    })
    expect(readFileSync(file, 'utf8')).toBe('theirs\n')
  })

  it('edits the file behind a link inside the workspace, and none outside', async () => {
    const place = makePlace()
    const file = put(place, 'a', 'x\n')
    symlinkSync('a', path.join(place.workspace, 'link'))
    symlinkSync(place.home, path.join(place.workspace, 'out'))
    symlinkSync('nowhere', path.join(place.workspace, 'dangling'))
    expect((await change(place, 'link', ['x', 'y'])).changes).toEqual([{ path: file, added: 1, removed: 1 }])
    expect((await change(place, 'out/a', ['x', 'y'])).content).toContain('escapes workspace-edit root')
    expect((await change(place, 'dangling', ['x', 'y'])).content).toContain('does not exist')
  })

  it('bounds its diff, and replaces it by a sentence when the versions differ too much', async () => {
    const place = makePlace()
    put(place, 'a', `${Array.from({ length: 3000 }, (_, index) => `old line ${index}`).join('\n')}\n`)
    const before = readFileSync(path.join(place.workspace, 'a'), 'utf8')
    const after = before.replaceAll('old', 'new')
    const { content, changes } = await change(place, 'a', [before, after])
    expect(content.length).toBeLessThan(18_000)
    expect(content).toMatch(/diff truncated by Cass|differ too much for a diff/)
    expect(changes).toEqual([expect.objectContaining({ added: 3000, removed: 3000 })])
  })

  it('does not run when it is cancelled before, and rejects', async () => {
    const place = makePlace()
    put(place, 'a', 'x\n')
    const signal = AbortSignal.abort()
    const context = makeContext(place, { mode: 'workspace-edit', signal })
    await expect(
      edit.run({ path: 'a', edits: [{ old_text: 'x', new_text: 'y' }] }, context),
    ).rejects.toThrow()
  })
})

describe('replaceAll', () => {
  it.each<[string, string, string, string, string]>([
    ['LF given for CRLF', 'a\r\nb\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\n'],
    ['a new line in a CRLF file', 'a\r\nb', 'a', 'x\ny', 'x\r\ny\r\nb'],
    ['a new line at the end of a CRLF file', 'a\r\nb', 'b', 'b\nc', 'a\r\nb\r\nc'],
    ['a new line in an LF file', 'a\nb', 'b', 'b\nc', 'a\nb\nc'],
    ['a new line in the LF part of a mixed file', 'a\r\nb\nc\r\n', 'b', 'b\nx', 'a\r\nb\nx\nc\r\n'],
    ['a line end alone', 'a\r\nb', '\nb', '\nc', 'a\r\nc'],
    ['CRLF given for CRLF means bytes', 'a\r\nb\r\n', 'a\r\nb', 'x\ny', 'x\ny\r\n'],
    ['CRLF given for LF', 'a\nb\n', 'a\r\nb', 'x\r\ny', 'x\ny\n'],
    ['a lone carriage return', 'a\rb\r\n', 'a\rb', 'c', 'c\r\n'],
  ])('handles %s', (_, text, old, put, expected) => {
    expect(replaceAll(text, [{ old_text: old, new_text: put }])).toBe(expected)
  })

  it('lets replacements touch', () => {
    const edits = [
      { old_text: 'b', new_text: '2' },
      { old_text: 'a', new_text: '1' },
    ]
    expect(replaceAll('abc', edits)).toBe('12c')
  })

  it('agrees with a simple model on any text with any line ends', () => {
    const piece = fc.constantFrom('a', 'b', '\n', '\r\n', '\r', 'é')
    const text = fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, fc.nat(13), fc.integer({ min: 1, max: 5 }), text, (whole, from, length, put) => {
        const old = whole.slice(from, from + length)
        fc.pre(old !== '' && !old.includes('\r') && !put.includes('\r'))
        const places = placesOf(whole, old)
        if (places.length !== 1) {
          expect(() => replaceAll(whole, [{ old_text: old, new_text: put }])).toThrow('not unique')
          return
        }
        const [[start, end]] = places as [[number, number]]
        const result = replaceAll(whole, [{ old_text: old, new_text: put }])
        // What lies outside is untouched, and inside is the new text but for its line ends.
        expect(result.startsWith(whole.slice(0, start))).toBe(true)
        expect(result.endsWith(whole.slice(end))).toBe(true)
        const middle = result.slice(start, result.length - (whole.length - end))
        expect(middle.replaceAll('\r\n', '\n')).toBe(put)
      }),
      { numRuns: 3000 },
    )
  })
})

/** Where `old` stands when a CRLF counts as LF, by trying every place and length. */
function placesOf(whole: string, old: string): [number, number][] {
  const found: [number, number][] = []
  for (let start = 0; start < whole.length; start += 1) {
    if (whole.charAt(start) === '\n' && whole.charAt(start - 1) === '\r') continue
    for (let end = start + 1; end <= whole.length; end += 1) {
      if (whole.charAt(end) === '\n' && whole.charAt(end - 1) === '\r') continue
      if (whole.slice(start, end).replaceAll('\r\n', '\n') === old) found.push([start, end])
    }
  }
  return found
}
