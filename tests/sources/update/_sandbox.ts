import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import type { CassError } from '../../../sources/errors.ts'
import { type ArchiveLimits, releaseLimits } from '../../../sources/update/entryLedger.ts'
import { unpackArchive } from '../../../sources/update/unpackArchive.ts'

/** A folder for one test: `home/archive…` is unpacked into `home/staging/new`, and `outside` must stay as it is. */
export const sandbox = { root: '', target: '', outside: '' }

beforeEach(() => {
  sandbox.root = mkdtempSync(join(tmpdir(), 'cass-unpack-'))
  sandbox.target = join(sandbox.root, 'home', 'staging', 'new')
  sandbox.outside = join(sandbox.root, 'outside')
  mkdirSync(join(sandbox.root, 'home', 'staging'), { recursive: true })
  mkdirSync(sandbox.outside)
  writeFileSync(join(sandbox.outside, 'victim'), 'untouched')
})

afterEach(() => {
  rmSync(sandbox.root, { recursive: true, force: true })
})

export type Format = '.tar.gz' | '.zip'

export function unpack(bytes: Buffer, format: Format, limits: Partial<ArchiveLimits> = {}) {
  const archive = join(sandbox.root, 'home', `archive${format}`)
  writeFileSync(archive, bytes)
  return unpackArchive({ archive, target: sandbox.target, limits: { ...releaseLimits, ...limits } })
}

/** Every path below a folder with its mode, and what a file holds. */
export function tree(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map((name) => {
      const found = statSync(join(folder, name))
      const mode = (found.mode & 0o7777).toString(8)
      return [name, found.isDirectory() ? mode : `${mode} ${readFileSync(join(folder, name), 'utf8')}`]
    }),
  )
}

/** Unpacks and expects a refusal that leaves nothing: not in the target, not beside it, not outside. */
export async function expectRefusal(
  bytes: Buffer,
  format: Format,
  { code, says, limits = {} }: { code: string; says: string | RegExp; limits?: Partial<ArchiveLimits> },
): Promise<CassError> {
  const error: CassError = await unpack(bytes, format, limits).then(
    () => expect.unreachable('it was unpacked'),
    (thrown) => thrown,
  )
  expect({ code: error.code, message: error.message }).toEqual({
    code,
    message: typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says),
  })
  const left = readdirSync(sandbox.root, { recursive: true, encoding: 'utf8' }).sort()
  expect(left).toEqual([
    'home',
    join('home', `archive${format}`),
    join('home', 'staging'),
    'outside',
    join('outside', 'victim'),
  ])
  expect(readFileSync(join(sandbox.outside, 'victim'), 'utf8')).toBe('untouched')
  return error
}
