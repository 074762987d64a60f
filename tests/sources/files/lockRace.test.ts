import { renameSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { tryLock } from '../../../sources/files/lockFile.ts'
import type { NativeFiles } from '../../../sources/files/native.ts'
import { makeFolder, useLockers } from './_processes.ts'

const between = vi.hoisted(() => ({ openAndLock: () => {} }))

vi.mock('fs-native-extensions', async (importOriginal) => {
  const native = await importOriginal<NativeFiles>()
  const tryLockLater: NativeFiles['tryLock'] = (fd, options) => {
    between.openAndLock()
    return native.tryLock(fd, options)
  }
  return { ...native, tryLock: tryLockLater }
})

useLockers()
afterEach(() => {
  between.openAndLock = () => {}
})

it.each([
  ['replaced', (file: string) => renameSync(`${file}.new`, file)],
  ['removed', (file: string) => unlinkSync(file)],
])(
  'a lock whose file is %s between opening and locking is taken on the file that is there',
  async (_, change) => {
    const file = path.join(makeFolder(), 'a.lock')
    writeFileSync(file, '')
    writeFileSync(`${file}.new`, '')
    let changes = 0
    between.openAndLock = () => {
      if (changes === 0) change(file)
      changes += 1
    }
    const lock = await tryLock(file, 'exclusive')
    expect(changes).toBe(2)
    expect(lock).not.toBeNull()
    expect(await tryLock(file, 'exclusive')).toBeNull()
    await lock?.release()
  },
)
