import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { sha256Of } from '../../../sources/edits/fileState.ts'
import { holdSnapshots, readSnapshot, snapshotPath, storeSnapshot } from '../../../sources/edits/snapshots.ts'
import { tryLock } from '../../../sources/files/lockFile.ts'
import { makeFolder, modeOf } from './_place.ts'

const bytes = Buffer.from([0, 255, 10, 13, 0])
const name = sha256Of(bytes)

describe('the snapshot store', () => {
  test('keeps bytes under their hash, for their owner only', async () => {
    const home = makeFolder()
    expect(await storeSnapshot(home, bytes)).toBe(name)
    expect(snapshotPath(home, name)).toBe(
      path.join(home, 'file-snapshots/objects', name.slice(0, 2), name.slice(2)),
    )
    expect(await readSnapshot(home, name)).toEqual(bytes)
    expect(modeOf(snapshotPath(home, name))).toBe(0o600)
    expect(modeOf(path.join(home, 'file-snapshots'))).toBe(0o700)
  })

  test.each([
    ['changed', (file: string) => writeFileSync(file, Buffer.from([1, 255, 10, 13, 0]))],
    ['cut', (file: string) => truncateSync(file, 2)],
  ])('takes bytes that were %s for missing, and heals them at the next store', async (_, damage) => {
    const home = makeFolder()
    await storeSnapshot(home, bytes)
    damage(snapshotPath(home, name))
    expect(await readSnapshot(home, name)).toBeNull()
    await storeSnapshot(home, bytes)
    expect(await readSnapshot(home, name)).toEqual(bytes)
  })

  test('stores the same bytes once, also by many at once, and leaves nothing beside them', async () => {
    const home = makeFolder()
    await Promise.all(Array.from({ length: 8 }, () => storeSnapshot(home, bytes)))
    expect(readdirSync(path.dirname(snapshotPath(home, name)))).toEqual([name.slice(2)])
  })

  test('removes what it could not finish', async () => {
    const home = makeFolder()
    mkdirSync(snapshotPath(home, name), { recursive: true })
    await expect(storeSnapshot(home, bytes)).rejects.toThrow()
    expect(readdirSync(path.dirname(snapshotPath(home, name)))).toEqual([name.slice(2)])
  })

  test('gives nothing for a name that is missing or no hash', async () => {
    const home = makeFolder()
    expect(await readSnapshot(home, name)).toBeNull()
    expect(await readSnapshot(home, '../../secret')).toBeNull()
  })

  test('is held together by those who store, and not alone meanwhile', async () => {
    const home = makeFolder()
    const held = [await holdSnapshots(home, null), await holdSnapshots(home, null)]
    const lock = path.join(home, 'file-snapshots/lock')
    expect(await tryLock(lock, 'exclusive')).toBeNull()
    for (const one of held) await one.release()
    const alone = await tryLock(lock, 'exclusive')
    expect(alone).not.toBeNull()
    await alone?.release()
  })
})
