import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { create } from 'tar'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pax, type TarEntry, tarBytes, tarGz } from './_archives.ts'
import { expectRefusal, sandbox, tree, unpack } from './_sandbox.ts'

const good: ReadonlyArray<TarEntry> = [
  { name: 'bin/', type: '5', mode: 0o700 },
  { name: 'bin/cass', content: '#!/bin/sh\n', mode: 0o755 },
  { name: 'lib/deep/a.txt', content: 'x'.repeat(600), mode: 0o600 },
  { name: 'empty' },
]

describe('unpacking a .tar.gz', () => {
  it('gives files and folders with plain modes, in a folder of its owner only', async () => {
    const entries = await unpack(tarGz(good), '.tar.gz')
    expect(tree(sandbox.target)).toEqual({
      bin: '755',
      'bin/cass': '755 #!/bin/sh\n',
      empty: '644 ',
      lib: '755',
      'lib/deep': '755',
      'lib/deep/a.txt': `644 ${'x'.repeat(600)}`,
    })
    expect(lstatSync(sandbox.target).mode & 0o7777).toBe(0o700)
    expect(entries).toEqual([
      { type: 'folder', name: 'bin' },
      { type: 'file', name: 'bin/cass', bytes: 10, executable: true },
      { type: 'folder', name: 'lib' },
      { type: 'folder', name: 'lib/deep' },
      { type: 'file', name: 'lib/deep/a.txt', bytes: 600, executable: false },
      { type: 'file', name: 'empty', bytes: 0, executable: false },
    ])
  })

  it('gives the same modes under any umask', async () => {
    const before = process.umask(0o077)
    onTestFinished(() => {
      process.umask(before)
    })
    await unpack(tarGz(good), '.tar.gz')
    expect(tree(sandbox.target)).toMatchObject({ 'bin/cass': '755 #!/bin/sh\n', empty: '644 ', lib: '755' })
  })

  it('reads what the library itself packs', async () => {
    const made = join(sandbox.root, 'made.tar.gz')
    await create({ gzip: true, file: made, cwd: sandbox.root, portable: true }, ['outside'])
    await unpack(readFileSync(made), '.tar.gz')
    expect(tree(sandbox.target)).toEqual({ outside: '755', 'outside/victim': '644 untouched' })
  })

  it('keeps no setuid, setgid or sticky bit', async () => {
    await unpack(tarGz([{ name: 'root', content: 'x', mode: 0o7755 }]), '.tar.gz')
    expect(tree(sandbox.target)).toEqual({ root: '755 x' })
  })

  it.skipIf(process.getuid?.() !== 0)(
    'gives files to who unpacks them, not to whom the archive names',
    async () => {
      await unpack(tarGz(good), '.tar.gz')
      const owners = ['bin', 'bin/cass', 'empty'].map((name) => lstatSync(join(sandbox.target, name)).uid)
      expect(owners).toEqual([0, 0, 0])
    },
  )

  it('reads long names of both kinds', async () => {
    const long = `${'d'.repeat(200)}/${'f'.repeat(200)}`
    const bytes = tarGz([
      pax({ path: `${long}.pax` }),
      { name: 'short', content: '1' },
      { name: '././@LongLink', type: 'L', content: `${long}.gnu\0` },
      { name: 'short', content: '2' },
    ])
    await unpack(bytes, '.tar.gz')
    expect(tree(sandbox.target)).toMatchObject({ [`${long}.pax`]: '644 1', [`${long}.gnu`]: '644 2' })
  })

  it('reads a member list that spans many chunks', async () => {
    const entries = Array.from({ length: 500 }, (_, at) => ({ name: `f${at}`, content: `${at}`.repeat(200) }))
    await unpack(tarGz(entries), '.tar.gz')
    expect(Object.keys(tree(sandbox.target))).toHaveLength(500)
    expect(readFileSync(join(sandbox.target, 'f499'), 'utf8')).toBe('499'.repeat(200))
  })
})

describe('a hostile .tar.gz', () => {
  const first: TarEntry = { name: 'first', content: 'written before the bad one' }
  const unsafe: ReadonlyArray<readonly [string, ReadonlyArray<TarEntry>, string]> = [
    ['a path that climbs', [{ name: '../x', content: 'x' }], "its entry '../x' has the part '..'"],
    ['a path that climbs later', [{ name: 'a/../../../outside/victim', content: 'x' }], "has the part '..'"],
    [
      'a path that climbs in a pax header',
      [pax({ path: '../x' }), { name: 'x' }],
      "'../x' has the part '..'",
    ],
    ['an absolute path', [{ name: '/tmp/x', content: 'x' }], "'/tmp/x' has an absolute path"],
    [
      'a hard link',
      [{ name: 'l', type: '1', link: '../../../outside/victim' }],
      "'l' is a link, to '../../..",
    ],
    ['a hard link inside', [{ name: 'l', type: '1', link: 'first' }], "'l' is a link, to 'first'"],
    ['a character device', [{ name: 'dev', type: '3' }], "'dev' is of the type CharacterDevice"],
    ['a block device', [{ name: 'dev', type: '4' }], "'dev' is of the type BlockDevice"],
    ['a pipe', [{ name: 'fifo', type: '6' }], "'fifo' is of the type FIFO"],
    ['a sparse file', [{ name: 's', type: 'S' }], "'s' is of the type SparseFile"],
    ['an unknown type', [{ name: 'u', type: 'Z' }], "'u' is of the type"],
    ['a folder with data', [{ name: 'd', type: 'D', content: 'x' }], "'d' is of the type GNUDumpDir"],
    ['one name twice', [{ name: 'first', content: 'again' }], "'first' takes the place of 'first'"],
    ['names that differ in case', [{ name: 'FIRST', content: 'x' }], "'FIRST' takes the place of 'first'"],
    ['a folder named as a file', [{ name: 'first/x', content: 'x' }], "'first' takes the place of 'first'"],
    ['a backslash', [{ name: 'a\\..\\x', content: 'x' }], 'has a backslash'],
    ['a drive letter', [{ name: 'C:/x', content: 'x' }], 'begins with a drive letter'],
    ['control characters', [{ name: 'a\u001b[2Jb', content: 'x' }], "'a\\u{1b}[2Jb' has control characters"],
    ['the root', [{ name: './', type: '5' }], "has the part '.'"],
    ['a name that is too long', [pax({ path: 'n'.repeat(300) }), { name: 'n' }], 'has a part of more than'],
    ['a header that is too large', [pax({ path: 'n'.repeat(70_000) }), { name: 'n' }], 'ExtendedHeader'],
    ['an entry that claims 4 GB', [{ name: 'big', claimed: 4_294_967_296 }], "'big' brings it to more than"],
  ]
  it.each(unsafe)('with %s is refused whole', async (_, entries, says) => {
    await expectRefusal(tarGz([first, ...entries]), '.tar.gz', { code: 'archive_unsafe', says })
  })

  it('with a link to the outside and a file through it is refused whole', async () => {
    const bytes = tarGz([
      { name: 'l', type: '2', link: sandbox.outside },
      { name: 'l/victim', content: 'owned' },
    ])
    await expectRefusal(bytes, '.tar.gz', { code: 'archive_unsafe', says: "its entry 'l' is a link, to" })
  })

  it('names the entry for programs too', async () => {
    const { data, hint } = await expectRefusal(tarGz([{ name: '../x' }]), '.tar.gz', {
      code: 'archive_unsafe',
      says: '',
    })
    expect(data).toMatchObject({ archive: 'archive.tar.gz', entry: '../x' })
    expect(hint).toMatch(/^download/)
  })

  it('with too many entries is refused', async () => {
    const entries = Array.from({ length: 11 }, (_, at) => ({ name: `${at}` }))
    await unpack(tarGz(entries.slice(0, 10)), '.tar.gz', { maxEntries: 10 })
    expect(Object.keys(tree(sandbox.target))).toHaveLength(10)
    sandbox.target += '2'
    await expect(unpack(tarGz(entries), '.tar.gz', { maxEntries: 10 })).rejects.toThrow(
      'more than 10 entries',
    )
  })

  it('that unpacks to too many bytes is refused', async () => {
    const bytes = tarGz([{ name: 'a', content: Buffer.alloc(3_000_000, 'ab') }])
    await expectRefusal(bytes, '.tar.gz', {
      code: 'archive_unsafe',
      says: '500000',
      limits: { maxBytes: 500_000 },
    })
  })

  it('that packs far too well is refused', async () => {
    const bytes = tarGz([{ name: 'zeros', content: Buffer.alloc(20_000_000) }])
    expect(bytes.length).toBeLessThan(30_000)
    await expectRefusal(bytes, '.tar.gz', { code: 'archive_unsafe', says: "'zeros' brings it to more than" })
  })

  it('that goes on and on after its end is refused', async () => {
    const bytes = gzipSync(Buffer.concat([tarBytes(good), Buffer.alloc(20_000_000)]))
    await expectRefusal(bytes, '.tar.gz', { code: 'archive_unsafe', says: 'unpacks to more than' })
  })

  it('that hides data after its end is refused', async () => {
    const hidden = Buffer.concat([tarBytes(good), Buffer.alloc(200_000), tarBytes([{ name: 'late' }])])
    const says = 'goes on after its end'
    await expectRefusal(gzipSync(hidden), '.tar.gz', { code: 'archive_unsafe', says })
  })
})

describe('a damaged .tar.gz', () => {
  const noise = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * at * 31 + (at >> 3)) % 251))
  const whole = tarGz([...good, { name: 'noise', content: noise }])
  const flipped = Buffer.from(whole)
  flipped[flipped.length >> 1]! ^= 0xff
  const badHeader = gunzipSync(whole)
  badHeader[3]! ^= 0xff
  const cases: ReadonlyArray<readonly [string, Buffer]> = [
    ['is cut in the middle', whole.subarray(0, whole.length >> 1)],
    ['lacks its last byte', whole.subarray(0, -1)],
    ['has a flipped bit', flipped],
    ['has a wrong check of its content', Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8)])],
    ['has a broken header', gzipSync(badHeader)],
    [
      'is cut inside of a file',
      gzipSync(tarBytes([{ name: 'a', content: 'x'.repeat(5000) }]).subarray(0, 2048)),
    ],
    ['has no end', gzipSync(tarBytes(good, { isEnded: false }))],
    ['is a web page', Buffer.from('<!doctype html><title>Sign in</title>'.repeat(50))],
    ['is a packed web page', gzipSync('<!doctype html><title>Sign in</title>'.repeat(50))],
    ['is empty', Buffer.alloc(0)],
    ['is not packed', tarBytes(good)],
    ['holds nothing', gzipSync(Buffer.alloc(1024))],
    ['holds folders only', tarGz([{ name: 'a/', type: '5' }])],
  ]
  it.each(cases)('that %s leaves nothing', async (_, bytes) => {
    await expectRefusal(bytes, '.tar.gz', { code: 'archive_damaged', says: "cannot unpack 'archive.tar.gz'" })
  })
})
