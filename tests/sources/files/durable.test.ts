import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { replaceDerivedFile, syncFolder, writeFileDurably } from '../../../sources/files/durable.ts'
import { ensurePrivateFolder } from '../../../sources/files/privateFolder.ts'
import { makeFolder, useLockers } from './_processes.ts'

useLockers()

describe.each([
  ['durably', writeFileDurably],
  ['as derived', replaceDerivedFile],
])('a file that is replaced %s', (_, write) => {
  it('is there as a whole, for its owner only, and nothing is beside it', async () => {
    const folder = makeFolder()
    const file = path.join(folder, 'a.json')
    await write(file, 'one')
    await write(file, Buffer.from([0, 255]))
    expect(readFileSync(file)).toEqual(Buffer.from([0, 255]))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['a.json'])
  })

  it('stays behind its link', async () => {
    const folder = makeFolder()
    writeFileSync(path.join(folder, 'real'), 'one')
    symlinkSync('real', path.join(folder, 'link'))
    await write(path.join(folder, 'link'), 'two')
    expect(readlinkSync(path.join(folder, 'link'))).toBe('real')
    expect(readFileSync(path.join(folder, 'real'), 'utf8')).toBe('two')
  })

  it('keeps its bytes when it cannot be replaced, and leaves nothing behind', async () => {
    const folder = makeFolder()
    mkdirSync(path.join(folder, 'a'))
    writeFileSync(path.join(folder, 'a', 'inside'), 'kept')
    await expect(write(path.join(folder, 'a'), 'two')).rejects.toMatchObject({ code: expect.any(String) })
    await expect(write(path.join(folder, 'missing', 'a'), 'two')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(readdirSync(folder)).toEqual(['a'])
    expect(readFileSync(path.join(folder, 'a', 'inside'), 'utf8')).toBe('kept')
  })
})

describe('a private folder', () => {
  it('is made with those above it, each for its owner only', async () => {
    const folder = makeFolder()
    const deep = path.join(folder, 'a', 'b', 'c')
    await ensurePrivateFolder(deep)
    for (const each of ['a', 'a/b', 'a/b/c'])
      expect(statSync(path.join(folder, each)).mode & 0o777).toBe(0o700)
    await ensurePrivateFolder(deep)
    await syncFolder(deep)
  })

  it('is tightened when it is looser, and left alone when it is tight', async () => {
    const folder = makeFolder()
    chmodSync(folder, 0o755)
    await ensurePrivateFolder(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    chmodSync(folder, 0o500)
    await ensurePrivateFolder(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o500)
    chmodSync(folder, 0o700)
  })

  it('cannot be where a file is', async () => {
    const file = path.join(makeFolder(), 'a')
    writeFileSync(file, 'a file')
    await expect(ensurePrivateFolder(file)).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(ensurePrivateFolder(path.join(file, 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    expect(existsSync(file)).toBe(true)
  })
})
