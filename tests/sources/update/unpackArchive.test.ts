import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CassError } from '../../../sources/errors.ts'
import { releaseLimits } from '../../../sources/update/entryLedger.ts'
import { unpackArchive } from '../../../sources/update/unpackArchive.ts'
import { tarBytes, tarGz, zipBytes } from './_archives.ts'
import { type Format, sandbox, tree, unpack } from './_sandbox.ts'

const entries = [
  { name: 'bin/', mode: 0o40755 },
  { name: 'bin/cass', content: 'program', mode: 0o100755 },
  { name: 'release.json', content: '{}' },
]
const tar = tarGz([{ name: 'bin/', type: '5' }, ...entries.slice(1)])
const zip = zipBytes(entries)
const failed = (says: string) =>
  expect.objectContaining({ code: 'unpack_failed', message: expect.stringContaining(says) })

describe.each<[Format, Buffer]>([
  ['.tar.gz', tar],
  ['.zip', zip],
])('the target of a %s', (format, bytes) => {
  it('is left alone when it exists', async () => {
    mkdirSync(sandbox.target)
    writeFileSync(join(sandbox.target, 'mine'), 'kept')
    await expect(unpack(bytes, format)).rejects.toEqual(
      failed(`cannot make the folder '${sandbox.target}' (EEXIST)`),
    )
    expect(tree(sandbox.target)).toEqual({ mine: '644 kept' })
  })

  it('is not a link to another folder', async () => {
    symlinkSync(sandbox.outside, sandbox.target)
    await expect(unpack(bytes, format)).rejects.toEqual(failed('(EEXIST)'))
    expect(readdirSync(sandbox.outside)).toEqual(['victim'])
  })

  it('needs a folder to stand in', async () => {
    sandbox.target = join(sandbox.root, 'nowhere', 'new')
    await expect(unpack(bytes, format)).rejects.toEqual(failed('(ENOENT)'))
    expect(existsSync(join(sandbox.root, 'nowhere'))).toBe(false)
  })

  it.skipIf(process.platform !== 'linux')('leaves no file open, whatever fails', async () => {
    await unpack(bytes, format)
    const before = readdirSync('/proc/self/fd').length
    const half = tarBytes([{ name: 'a', content: 'x'.repeat(9000) }]).subarray(0, 5000)
    for (const bad of [
      format === '.zip' ? zip.subarray(9) : gzipSync(half),
      gzipSync(half).subarray(0, -9),
    ]) {
      sandbox.target += 'x'
      await expect(unpack(bad, format)).rejects.toThrow(CassError)
    }
    expect(readdirSync('/proc/self/fd')).toHaveLength(before)
  })

  it('is there whole or not at all when any byte of the archive is another', async () => {
    const plain = format === '.zip' ? bytes : gunzipSync(bytes)
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.nat(plain.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(plain)
        changed[at]! ^= change
        sandbox.target = join(sandbox.root, 'home', 'staging', `${run++}`)
        const error = await unpack(format === '.zip' ? changed : gzipSync(changed), format).then(
          () => null,
          (thrown) => thrown,
        )
        if (error !== null) expect(error.code).toMatch(/^archive_(unsafe|damaged)$/)
        expect(existsSync(sandbox.target)).toBe(error === null)
        expect(readdirSync(sandbox.root).sort()).toEqual(['home', 'outside'])
      }),
      { numRuns: 150 },
    )
  })
})

describe('an archive', () => {
  const limits = releaseLimits

  it('that is missing is no damage', async () => {
    const archive = join(sandbox.root, 'none.zip')
    await expect(unpackArchive({ archive, target: sandbox.target, limits })).rejects.toEqual(
      failed('(ENOENT)'),
    )
  })

  it.skipIf(process.platform === 'win32')('that is a pipe is not waited for', async () => {
    const archive = join(sandbox.root, 'pipe.tar.gz')
    execFileSync('mkfifo', [archive])
    await expect(unpackArchive({ archive, target: sandbox.target, limits })).rejects.toThrow('it is no file')
    expect(existsSync(sandbox.target)).toBe(false)
  })

  it('is told by its name', async () => {
    const archive = join(sandbox.root, 'x.rar')
    await expect(unpackArchive({ archive, target: sandbox.target, limits })).rejects.toThrow(
      'Assertion failed',
    )
    await expect(unpack(zip, '.tar.gz')).rejects.toMatchObject({ code: 'archive_damaged' })
    await expect(unpack(tar, '.zip')).rejects.toMatchObject({ code: 'archive_damaged' })
  })
})
