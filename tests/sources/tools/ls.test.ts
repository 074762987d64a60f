import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatSize, ls } from '../../../sources/tools/ls.ts'
import { makeContext, makePlace } from './_context.ts'

describe('ls', () => {
  it('shows the folder, then its entries sorted, padded, with what they are', async () => {
    const place = makePlace()
    const at = (name: string) => path.join(place.workspace, name)
    writeFileSync(at('b.txt'), 'x'.repeat(1536))
    writeFileSync(at('.hidden'), '')
    mkdirSync(at('dir'))
    symlinkSync('dir', at('link'))
    symlinkSync('nowhere', at('broken'))
    const { ok, content } = await ls.run({}, makeContext(place, { mode: 'read-only' }))
    expect({ ok, content }).toEqual({
      ok: true,
      content: [
        place.workspace,
        '  .hidden  0 B',
        '  b.txt    1.5 KiB',
        '  broken   link -> nowhere',
        '  dir/     dir',
        '  link     link -> dir',
        '',
      ].join('\n'),
    })
  })

  // The file systems of macOS take no names that are not UTF-8.
  it.skipIf(process.platform === 'darwin')('shows names safely whatever is in them', async () => {
    const place = makePlace()
    for (const name of ['a\nb', '-rf', ' lead', '😀', '\u001b[31m', 'x'.repeat(255), 'ltr\u202etxt', '"q"']) {
      writeFileSync(path.join(place.workspace, name), '')
    }
    writeFileSync(Buffer.concat([Buffer.from(`${place.workspace}/`), Buffer.from([0x66, 0xff, 0x22])]), '')
    const { content } = await ls.run({ path: '.' }, makeContext(place, { mode: 'read-only' }))
    const names = content.split('\n').map((line) => line.slice(2).replace(/ +0 B$/, ''))
    expect(names).toEqual(
      expect.arrayContaining([
        '"a\\nb"',
        '-rf',
        '" lead"',
        '😀',
        '"\\u001b[31m"',
        'x'.repeat(255),
        '"ltr\\u202etxt"',
        '"\\"q\\""',
        '"f\\xff\\""',
      ]),
    )
  })

  it('names pipes and says why it cannot list', async () => {
    const place = makePlace()
    execFileSync('mkfifo', [path.join(place.workspace, 'pipe')])
    const context = makeContext(place, { mode: 'read-only' })
    expect((await ls.run({}, context)).content).toContain('  pipe  fifo')
    const failures = [
      ['pipe', 'not a directory: '],
      ['missing', "no such file or folder: '"],
      ['..', 'path escapes read-only roots: '],
      ['missing/../..', 'path escapes read-only roots: '],
      ['/etc/missing', 'path escapes read-only roots: '],
      ['a\0b', 'NUL'],
      ['x'.repeat(300), 'a name in it is too long'],
    ] as const
    for (const [asked, message] of failures) {
      const { ok, content } = await ls.run({ path: asked }, context)
      expect({ ok, content }).toEqual({ ok: false, content: expect.stringContaining(message) })
    }
    expect((await ls.run({ path: 3 }, context)).content).toContain('field `path`: expected a string')
    expect((await ls.run([], context)).ok).toBe(true)
    expect((await ls.run('x', context)).ok).toBe(false)
  })

  it('lists anything in full-access, and the docs in every mode', async () => {
    const place = makePlace()
    expect((await ls.run({ path: '~' }, makeContext(place, { mode: 'full-access' }))).content).toBe(
      `${place.home}\n  .cass/  dir\n`,
    )
    expect((await ls.run({ path: place.docs }, makeContext(place, { mode: 'read-only' }))).ok).toBe(true)
  })

  it('bounds what it shows of a folder with very many entries', async () => {
    const place = makePlace()
    for (let index = 0; index < 1300; index += 1) {
      writeFileSync(path.join(place.workspace, `${index}-${'n'.repeat(240)}`), '')
    }
    const { content } = await ls.run({}, makeContext(place, { mode: 'read-only' }))
    expect(content).toMatch(/… truncated by Cass: \d+ more entries\n$/)
    expect(content.length).toBeLessThan(270_000)
  })

  it('writes sizes as people read them', () => {
    expect([0, 1023, 1024, 10 * 1024, 1536 * 1024, 5 * 1024 ** 4].map(formatSize)).toEqual([
      '0 B',
      '1023 B',
      '1.0 KiB',
      '10 KiB',
      '1.5 MiB',
      '5.0 TiB',
    ])
  })
})
