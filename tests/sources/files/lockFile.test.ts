import { existsSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { tryLockWithoutKernel } from '../../../sources/files/lockFallback.ts'
import { acquireLock, isLockFree, tryLock } from '../../../sources/files/lockFile.ts'
import { kill, makeFolder, startLocker, useLockers } from './_processes.ts'

useLockers()

function lockPath(): string {
  return path.join(makeFolder(), 'a.lock')
}

const waiting = { mode: 'exclusive', timeoutMs: 20_000, subject: `the lock 'a'` } as const

describe('a lock', () => {
  it('is held by one at a time, also in one process, and free again after its release', async () => {
    const file = lockPath()
    const first = await tryLock(file, 'exclusive')
    expect(await tryLock(file, 'exclusive')).toBeNull()
    expect(await tryLock(file, 'shared')).toBeNull()
    await first?.release()
    await first?.release()
    const second = await tryLock(file, 'exclusive')
    expect(second).not.toBeNull()
    await second?.release()
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is shared by any number, and then by nobody alone', async () => {
    const file = lockPath()
    const one = await tryLock(file, 'shared')
    const two = await tryLock(file, 'shared')
    expect(two).not.toBeNull()
    expect(await tryLock(file, 'exclusive')).toBeNull()
    await one?.release()
    expect(await tryLock(file, 'exclusive')).toBeNull()
    await two?.release()
    const alone = await tryLock(file, 'exclusive')
    expect(alone).not.toBeNull()
    await alone?.release()
  })

  it.each([
    ['exclusive', 'exclusive', false],
    ['exclusive', 'shared', false],
    ['shared', 'exclusive', false],
    ['shared', 'shared', true],
  ] as const)('that another process holds %s can be taken %s: %s', async (theirs, ours, isGranted) => {
    const file = lockPath()
    const { says } = await startLocker(file, theirs)
    expect(says).toBe('held')
    const lock = await tryLock(file, ours)
    expect(lock !== null).toBe(isGranted)
    await lock?.release()
    expect(await isLockFree(file)).toBe(theirs === 'shared')
  })

  it('dies with its process', async () => {
    const file = lockPath()
    const { child } = await startLocker(file)
    let waits = 0
    const pending = acquireLock({ ...waiting, path: file, onWait: () => (waits += 1) })
    await kill(child)
    const lock = await pending
    expect(waits).toBeLessThanOrEqual(1)
    expect((await startLocker(file)).says).toBe('taken')
    await lock.release()
    expect((await startLocker(file)).says).toBe('held')
  })

  it('belongs to the file that is there: a replaced one is locked anew', async () => {
    const file = lockPath()
    const old = await tryLock(file, 'exclusive')
    writeFileSync(`${file}.new`, '')
    renameSync(`${file}.new`, file)
    const lock = await tryLock(file, 'exclusive')
    expect(lock).not.toBeNull()
    expect((await startLocker(file)).says).toBe('taken')
    await old?.release()
    expect((await startLocker(file)).says).toBe('taken')
    await lock?.release()
  })

  it('is made again when its file was removed', async () => {
    const file = lockPath()
    const old = await tryLock(file, 'exclusive')
    unlinkSync(file)
    expect(await isLockFree(file)).toBe(true)
    expect(existsSync(file)).toBe(false)
    const lock = await tryLock(file, 'exclusive')
    expect(lock).not.toBeNull()
    await old?.release()
    await lock?.release()
  })

  it('is waited for a bounded time, told once, and named in the error', async () => {
    const file = lockPath()
    const held = await tryLock(file, 'exclusive')
    let waits = 0
    const wait = acquireLock({ ...waiting, path: file, timeoutMs: 60, onWait: () => (waits += 1) })
    await expect(wait).rejects.toMatchObject({
      ...{ code: 'lock_held', kind: 'busy', message: `the lock 'a' is in use by another process` },
      hint: expect.stringContaining(file),
    })
    expect(waits).toBe(1)
    await held?.release()
    const free = await acquireLock({ ...waiting, path: file, onWait: () => (waits += 1) })
    expect(waits).toBe(1)
    await free.release()
  })

  it('can be given up while it is waited for', async () => {
    const file = lockPath()
    const held = await tryLock(file, 'exclusive')
    const controller = new AbortController()
    const onWait = () => controller.abort(new Error('given up'))
    const wait = acquireLock({ ...waiting, path: file, timeoutMs: null, signal: controller.signal, onWait })
    await expect(wait).rejects.toThrow('given up')
    await held?.release()
    const lock = await tryLock(file, 'exclusive')
    expect(lock).not.toBeNull()
    await lock?.release()
  })

  it('goes to each of many that wait at once', async () => {
    const file = lockPath()
    let inside = 0
    let most = 0
    const turns: number[] = []
    await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        const lock = await acquireLock({ ...waiting, path: file })
        inside += 1
        most = Math.max(most, inside)
        await new Promise((resolve) => setImmediate(resolve))
        turns.push(at)
        inside -= 1
        await lock.release()
      }),
    )
    expect(most).toBe(1)
    expect(turns.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })
})

describe.skipIf(process.platform === 'darwin')('a lock without the native part', () => {
  it('is held by one process at a time, under one name for every spelling of its path', async () => {
    const file = lockPath()
    const lock = await tryLockWithoutKernel(file)
    expect(lock).not.toBeNull()
    expect(existsSync(file)).toBe(true)
    const spelling = path.join(path.dirname(file), '..', path.basename(path.dirname(file)), 'a.lock')
    expect(await tryLockWithoutKernel(spelling)).toBeNull()
    expect((await startLocker(file, 'exclusive', 'fallback')).says).toBe('taken')
    await lock?.release()
    await lock?.release()
    expect((await startLocker(file, 'exclusive', 'fallback')).says).toBe('held')
    expect(await tryLockWithoutKernel(file)).toBeNull()
    expect(await tryLockWithoutKernel(lockPath())).not.toBeNull()
  })

  it('dies with its process', async () => {
    const file = lockPath()
    const { child } = await startLocker(file, 'exclusive', 'fallback')
    expect(await tryLockWithoutKernel(file)).toBeNull()
    await kill(child)
    const lock = await tryLockWithoutKernel(file)
    expect(lock).not.toBeNull()
    await lock?.release()
  })
})
