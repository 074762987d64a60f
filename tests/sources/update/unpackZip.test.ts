import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import AdmZip from 'adm-zip'
import { describe, expect, it } from 'vitest'
import { type ZipEntry, zipBytes } from './_archives.ts'
import { expectRefusal, sandbox, tree, unpack } from './_sandbox.ts'

const good: ReadonlyArray<ZipEntry> = [
  { name: 'bin/', mode: 0o040700 },
  { name: 'bin/cass', content: '#!/bin/sh\n', mode: 0o100755 },
  { name: 'lib/deep/a.txt', content: 'x'.repeat(600), mode: 0o100600 },
  { name: 'stored', content: 'as it is', method: 0, mode: 0 },
  { name: 'empty' },
]

describe('unpacking a .zip', () => {
  it('gives files and folders with plain modes, in a folder of its owner only', async () => {
    const entries = await unpack(zipBytes(good), '.zip')
    expect(tree(sandbox.target)).toEqual({
      bin: '755',
      'bin/cass': '755 #!/bin/sh\n',
      empty: '644 ',
      lib: '755',
      'lib/deep': '755',
      'lib/deep/a.txt': `644 ${'x'.repeat(600)}`,
      stored: '644 as it is',
    })
    expect(lstatSync(sandbox.target).mode & 0o7777).toBe(0o700)
    expect(entries).toContainEqual({ type: 'file', name: 'bin/cass', bytes: 10, executable: true })
  })

  it('reads what the library itself packs', async () => {
    const zip = new AdmZip()
    zip.addFile('bin/cass.exe', Buffer.from('MZ'.repeat(1000)), '', 0o755)
    await unpack(zip.toBuffer(), '.zip')
    expect(readFileSync(join(sandbox.target, 'bin', 'cass.exe'), 'utf8')).toBe('MZ'.repeat(1000))
    expect(lstatSync(join(sandbox.target, 'bin', 'cass.exe')).mode & 0o7777).toBe(0o755)
  })

  it('keeps no setuid, setgid or sticky bit', async () => {
    await unpack(zipBytes([{ name: 'root', content: 'x', mode: 0o107755 }]), '.zip')
    expect(tree(sandbox.target)).toEqual({ root: '755 x' })
  })
})

describe('a hostile .zip', () => {
  const first: ZipEntry = { name: 'first', content: 'stands before the bad one' }
  const x = { content: 'x' }
  const unsafe: ReadonlyArray<readonly [string, ReadonlyArray<ZipEntry>, string]> = [
    ['a path that climbs', [{ name: '../x', ...x }], "its entry '../x' has the part '..'"],
    ['a path that climbs later', [{ name: 'a/../../../outside/victim', ...x }], "has the part '..'"],
    ['an absolute path', [{ name: '/tmp/x', ...x }], "'/tmp/x' has an absolute path"],
    ['a drive letter', [{ name: 'C:x', ...x }], 'begins with a drive letter'],
    ['a backslash', [{ name: '..\\x', ...x }], 'has a backslash'],
    ['a folder with a backslash', [{ name: 'a\\', mode: 0 }], 'has a backslash'],
    ['a share', [{ name: '//server/share/x', ...x }], 'has an absolute path'],
    ['a second stream', [{ name: 'first:hidden', ...x }], 'not every system takes'],
    ['a link', [{ name: 'l', content: '../../outside', mode: 0o120777 }], "'l' is a link"],
    ['a folder that is a link', [{ name: 'l/', mode: 0o120777 }], "'l/' is a link"],
    ['a device', [{ name: 'd', mode: 0o020644 }], "'d' is of the type 20000"],
    ['a pipe', [{ name: 'p', mode: 0o010644 }], "'p' is of the type 10000"],
    ['a file that is a folder', [{ name: 'f', ...x, mode: 0o040755 }], "'f' is of the type 40000"],
    ['a device name', [{ name: 'bin/nul.txt', ...x }], "has the name of a device, 'nul.txt'"],
    ['a name with a dot at its end', [{ name: 'first.', ...x }], 'ends with a dot or a space'],
    ['control characters', [{ name: 'a\rb\u009b', ...x }], "'a\\u{d}b\\u{9b}' has control characters"],
    ['text that runs backwards', [{ name: 'cass\u202egpj.exe', ...x }], 'has control characters'],
    ['no UTF-8', [{ name: Buffer.from([0x61, 0xff]), ...x }], 'has a name that is not UTF-8'],
    ['an empty name', [{ name: '', ...x }], 'has no name'],
    ['names that differ in case', [{ name: 'First', ...x }], "'First' takes the place of 'first'"],
    ['names that differ in composition', [{ name: 'é' }, { name: 'e\u0301' }], "takes the place of 'é'"],
    ['a file below a file', [{ name: 'first/x', ...x }], "'first' takes the place of 'first'"],
    ['a long part', [{ name: 'n'.repeat(300), ...x }], 'has a part of more than'],
    ['a long path', [{ name: 'a/'.repeat(400) }], 'has a name of more than'],
    ['a deep path', [{ name: 'a/'.repeat(40) }], 'folders deep'],
    ['a path of thousands of folders', [{ name: 'a/'.repeat(30_000) }], 'has a name of more than 1024 bytes'],
    ['more packed bytes than there are', [{ name: 'p', ...x, claimedPacked: 900 }], 'entries that overlap'],
    ['an encrypted entry', [{ name: 'e', ...x, flags: 0x801 }], "'e' is encrypted"],
    ['an unknown method', [{ name: 'm', ...x, method: 14 }], 'packed in a way that is not known'],
    ['a folder with content', [{ name: 'd/', ...x }], 'is a folder with content'],
    [
      'an entry that claims 4 GB',
      [{ name: 'big', ...x, claimed: 0xffff_fffe }],
      "'big' brings it to more than",
    ],
    [
      'a stored size that is a lie',
      [{ name: 's', ...x, method: 0, claimed: 2 }],
      'another size than it claims',
    ],
    [
      'more data than it claims',
      [{ name: 'b', content: Buffer.alloc(5_000_000), claimed: 10 }],
      "'b' unpacks to more than the 10 bytes",
    ],
  ]
  it.each(unsafe)('with %s is refused whole', async (_, entries, says) => {
    await expectRefusal(zipBytes([first, ...entries]), '.zip', { code: 'archive_unsafe', says })
  })

  it('with one name twice is refused', async () => {
    const bytes = zipBytes([first, first])
    await expectRefusal(bytes, '.zip', { code: 'archive_damaged', says: "cannot unpack 'archive.zip'" })
  })

  it('that packs far too well is refused', async () => {
    const bytes = zipBytes([{ name: 'zeros', content: Buffer.alloc(20_000_000) }])
    expect(bytes.length).toBeLessThan(30_000)
    await expectRefusal(bytes, '.zip', { code: 'archive_unsafe', says: "'zeros' brings it to more than" })
  })

  it('whose entries share their bytes is refused', async () => {
    const content = Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * at * 7) % 253))
    const entries = Array.from({ length: 3 }, (_, at) => ({ name: `e${at}`, content, method: 0 }))
    const shared = zipBytes(entries, { offset: 0 })
    const start = shared.readUInt32LE(shared.length - 6)
    const small = Buffer.concat([shared.subarray(0, start / 3), shared.subarray(start)])
    small.writeUInt32LE(start / 3, small.length - 6)
    await expectRefusal(small, '.zip', { code: 'archive_unsafe', says: 'has entries that overlap' })
  })

  it('with too many entries is refused before they are read', async () => {
    const bytes = zipBytes([first], { count: 60_000 })
    await expectRefusal(bytes, '.zip', { code: 'archive_unsafe', says: 'more than 20000 entries' })
  })

  it('that is larger than what it may become is refused', async () => {
    const limits = { maxBytes: 100 }
    await expectRefusal(zipBytes(good), '.zip', { code: 'archive_unsafe', says: 'is too large', limits })
  })
})

describe('a damaged .zip', () => {
  const noise = Buffer.from(Array.from({ length: 50_000 }, (_, at) => (at * at * 31 + (at >> 3)) % 251))
  const whole = zipBytes([...good, { name: 'noise', content: noise }])
  const flipped = Buffer.from(whole)
  flipped[flipped.indexOf('noise') + 200]! ^= 0xff
  const cases: ReadonlyArray<readonly [string, Buffer]> = [
    ['is cut in the middle', whole.subarray(0, whole.length >> 1)],
    ['lacks its last byte', whole.subarray(0, -1)],
    ['lacks its first bytes', whole.subarray(10)],
    ['has a flipped bit', flipped],
    ['has a wrong check of its content', zipBytes([...good, { name: 'c', content: 'x', crc: 1 }])],
    ['claims more than a file holds', zipBytes([{ name: 'c', content: 'x', claimed: 2 }])],
    ['claims a file that has no bytes', zipBytes([{ name: 'c', claimed: 9, method: 8, claimedPacked: 0 }])],
    ['claims more entries than it has', zipBytes(good, { count: 500 })],
    ['is a web page', Buffer.from('<!doctype html><title>Sign in</title>'.repeat(50))],
    ['is empty', Buffer.alloc(0)],
    ['holds nothing', zipBytes([])],
  ]
  it.each(cases)('that %s leaves nothing', async (_, bytes) => {
    await expectRefusal(bytes, '.zip', { code: 'archive_damaged', says: "cannot unpack 'archive.zip'" })
  })
})
