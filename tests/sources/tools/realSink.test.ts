import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { isStored, makePlace, modeOf, put, readLines, textOf } from '../edits/_place.ts'
import { call, edit, told, write } from './_realSink.ts'

describe('tools with the real edit sink', () => {
  it('write a new file with its folders, and find it again', async () => {
    const place = makePlace()
    const file = path.join(place.workspace.root, 'src/deep/a.txt')
    expect(await write(place, 'src/deep/a.txt', 'one\ntwo\n')).toEqual({
      ok: true,
      content: `wrote 8 bytes to ${file}`,
      changes: [{ path: file, added: 2, removed: 0 }],
    })
    expect(modeOf(file)).toBe(0o644)
    expect((await call(place, 'ls', { path: 'src/deep' })).content).toBe(
      `${path.dirname(file)}\n  a.txt  8 B\n`,
    )
    expect((await call(place, 'read', { files: [{ path: 'src/deep/a.txt' }] })).content).toContain('2 | two')
    expect((await call(place, 'grep', { query: 'two' })).content).toBe(`${file}:2: two\n`)
    expect(told(place)).toEqual(['edit src/deep/a.txt'])
    expect(readLines(place)[0]?.created_dirs).toEqual(['src', 'src/deep'])
  })

  it('edit a file twice in a row, each time from what is there, with all states kept', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'run.sh', 'a\nb\n', 0o755)
    expect((await edit(place, 'run.sh', [['a', 'A']])).content).toContain('-a\n+A\n b')
    expect(
      await edit(place, 'run.sh', [
        ['b', 'B'],
        ['A', 'AA'],
      ]),
    ).toMatchObject({
      ok: true,
      changes: [{ path: file, added: 2, removed: 2 }],
    })
    expect(textOf(file)).toBe('AA\nB\n')
    expect(modeOf(file)).toBe(0o755)
    expect(told(place)).toEqual(['edit run.sh', 'edit run.sh'])
    const [first, second] = readLines(place)
    expect(second?.before).toEqual(first?.after)
    expect(['a\nb\n', 'A\nb\n', 'AA\nB\n'].every((text) => isStored(place, text))).toBe(true)
  })

  it('tell what the shell did to a file between two edits', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'one')
    await write(place, 'a', 'two')
    expect((await call(place, 'shell', { command: 'printf three > a' })).content).toContain('exit code: 0')
    expect((await edit(place, 'a', [['two', 'x']])).content).toContain('old_text not found')
    expect((await edit(place, 'a', [['three', 'four']])).ok).toBe(true)
    expect(textOf(file)).toBe('four')
    expect(told(place)).toEqual(['edit a', 'outside a', 'edit a'])
    expect(isStored(place, 'three')).toBe(true)
  })

  it('write what is there already without a line', async () => {
    const place = makePlace()
    put(place.workspace.root, 'a', 'same')
    expect(await write(place, 'a', 'same')).toMatchObject({ ok: true, changes: [] })
    expect((await edit(place, 'a', [['same', 'same']])).changes).toEqual([])
    expect(told(place)).toEqual([])
  })

  it('keep the mode, line ends, byte order mark and encoding of what is edited', async () => {
    const place = makePlace()
    const mark = Buffer.from([0xef, 0xbb, 0xbf])
    const wide = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
    const cases: [string, Buffer, Buffer][] = [
      ['crlf', Buffer.from('a\r\nb\r\nc'), Buffer.from('a\r\nB\r\nB2\r\nc')],
      [
        'mark',
        Buffer.concat([mark, Buffer.from('b\r\n')]),
        Buffer.concat([mark, Buffer.from('B\r\nB2\r\n')]),
      ],
      ['wide', wide('é\r\nb\r\n'), wide('é\r\nB\r\nB2\r\n')],
      ['latin', Buffer.from('é b', 'latin1'), Buffer.from('é B\nB2', 'latin1')],
    ]
    for (const [name, before, after] of cases) {
      const file = put(place.workspace.root, name, '', 0o640)
      writeFileSync(file, before)
      expect((await edit(place, name, [['b', 'B\nB2']])).ok).toBe(true)
      expect([name, readFileSync(file), modeOf(file)]).toEqual([name, after, 0o640])
    }
    expect(told(place)).toHaveLength(4)
  })

  // The file is changed at the last moment at which a change can be seen, and at earlier ones.
  it('write to where a link leads inside of the workspace, and leave the link', async () => {
    const place = makePlace()
    const { root } = place.workspace
    const file = put(root, 'real/a', 'old')
    symlinkSync('real', path.join(root, 'folder'))
    symlinkSync('real/a', path.join(root, 'link'))
    expect((await write(place, 'link', 'new')).content).toBe(`wrote 3 bytes to ${file}`)
    expect((await edit(place, 'folder/a', [['new', 'newer']])).ok).toBe(true)
    expect(textOf(file)).toBe('newer')
    expect(told(place)).toEqual(['edit real/a', 'edit real/a'])
  })

  it('refuse a link out of the workspace, a folder, and a file in the place of a folder', async () => {
    const place = makePlace()
    const { root } = place.workspace
    const outside = put(path.dirname(root), 'outside', 'old')
    symlinkSync(outside, path.join(root, 'out'))
    put(root, 'file', 'x')
    mkdirSync(path.join(root, 'folder'))
    const cases = [
      ['out', 'escapes workspace-edit root'],
      ['folder', 'is not a regular file'],
      ['file/a', 'is a file, not a folder'],
    ] as const
    for (const [name, message] of cases) {
      for (const outcome of [await write(place, name, 'new'), await edit(place, name, [['o', 'n']])]) {
        expect(outcome).toMatchObject({ ok: false, content: expect.stringContaining(message) })
      }
    }
    expect(textOf(outside)).toBe('old')
    expect(told(place)).toEqual([])
  })

  it('refuse what is too large to keep and name the setting, but for one that lets it through', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'x'.repeat(101))
    put(place.workspace.root, 'b', 'small')
    const small = { maxFileBytes: 100 }
    const refused = { ok: false, content: expect.stringContaining('snapshots.maxFileBytes'), changes: [] }
    expect(await write(place, 'a', 'new', small)).toEqual(refused)
    expect(await edit(place, 'a', [['x', 'y']], small)).toEqual(refused)
    expect(await write(place, 'b', 'y'.repeat(101), small)).toEqual(refused)
    expect(await write(place, 'new/c', 'y'.repeat(101), small)).toEqual(refused)
    expect(existsSync(path.join(place.workspace.root, 'new'))).toBe(false)
    expect(textOf(file)).toBe('x'.repeat(101))
    expect(told(place)).toEqual([])
    expect((await write(place, 'a', 'new', { ...small, required: false })).ok).toBe(true)
    expect(told(place)).toEqual(['gap a', 'edit a'])
  })

  it.skipIf(process.getuid?.() === 0)('say why a folder or a file cannot be used', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'sub/a', 'old')
    chmodSync(path.dirname(file), 0o500)
    const shut = await write(place, 'sub/a', 'new')
    chmodSync(path.dirname(file), 0o700)
    expect(shut).toMatchObject({ ok: false, content: expect.stringContaining('cannot write') })
    expect(textOf(file)).toBe('old')
    chmodSync(file, 0)
    expect((await write(place, 'sub/a', 'new')).content).toContain('cannot read')
  })

  it('keep no change of what the mode refuses', async () => {
    const place = makePlace()
    put(place.workspace.root, 'a', 'old')
    for (const outcome of [
      await write(place, 'a', 'new', { mode: 'read-only' }),
      await write(place, '.git/hooks/x', 'new', { mode: 'full-access' }),
      await write(place, path.join(place.home, 'config.json'), '{}', { mode: 'full-access' }),
    ]) {
      expect(outcome.ok).toBe(false)
    }
    const beside = path.join(path.dirname(place.workspace.root), 'beside')
    expect((await write(place, beside, 'new', { mode: 'full-access' })).ok).toBe(true)
    expect(told(place)).toEqual([`edit ${beside}`])
  })
})
