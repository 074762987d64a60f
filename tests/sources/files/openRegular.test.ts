import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { replaceDerivedFile, writeFileDurably } from '../../../sources/files/durable.ts'
import { tryLockWithoutKernel } from '../../../sources/files/lockFallback.ts'
import { acquireLock, isLockFree, tryLock } from '../../../sources/files/lockFile.ts'
import { isOtherKind, openRegular, readRegular, reasonOf } from '../../../sources/files/openRegular.ts'
import { ensurePrivateFolder } from '../../../sources/files/privateFolder.ts'
import { otherKinds } from './_kinds.ts'
import { makeFolder, useLockers } from './_processes.ts'

useLockers()

/** What a call throws. */
function thrownBy(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  throw new Error('it threw nothing')
}

describe.skipIf(process.platform === 'win32')('what is no file', () => {
  const flags = [
    constants.O_RDONLY,
    constants.O_WRONLY,
    constants.O_RDWR | constants.O_APPEND,
    constants.O_RDWR | constants.O_CREAT,
  ]

  it.each(otherKinds)('is never opened, and said to be none: %s', (_, make, words) => {
    const place = path.join(makeFolder(), 'a')
    make(place)
    for (const flag of flags) {
      const error = thrownBy(() => openRegular(place, flag))
      expect([isOtherKind(error), reasonOf(error)]).toEqual([true, words])
      expect(error).toMatchObject({ message: expect.stringMatching(/^E[A-Z]+: .+, open '/) })
    }
    expect(isOtherKind(thrownBy(() => readRegular(place)))).toBe(true)
  })

  it.each(otherKinds)('is never replaced: %s', async (_, make) => {
    const place = path.join(makeFolder(), 'a')
    make(place)
    const before = [lstatSync(place).mode, statSync(place).mode]
    for (const write of [writeFileDurably, replaceDerivedFile])
      expect(isOtherKind(await write(place, 'x').catch((error: unknown) => error))).toBe(true)
    expect([lstatSync(place).mode, statSync(place).mode]).toEqual(before)
  })

  it('is not read when it is a device', () => {
    expect(reasonOf(thrownBy(() => readRegular('/dev/zero')))).toBe('it is not a file')
  })

  it('is told from a file also when it is a socket', async () => {
    const place = path.join(makeFolder(), 'a')
    const server = createServer().listen(place)
    await new Promise((resolve) => server.once('listening', resolve))
    expect(reasonOf(thrownBy(() => openRegular(place, constants.O_RDWR)))).toBe('it is not a file')
    await new Promise((resolve) => server.close(resolve))
  })

  it.each(otherKinds)('cannot be a lock: %s', async (_, make, words) => {
    const place = path.join(makeFolder(), 'a.lock')
    make(place)
    const unusable = {
      code: 'lock_unusable',
      message: `cannot use '${place}' as a lock: ${words}`,
      hint: expect.stringMatching(/^move it away/),
    }
    const waiting = { path: place, mode: 'exclusive', timeoutMs: 20_000, subject: 'the lock' } as const
    for (const call of [
      () => acquireLock(waiting),
      () => tryLock(place, 'shared'),
      () => isLockFree(place),
      () => tryLockWithoutKernel(place),
    ])
      await expect(call()).rejects.toMatchObject(unusable)
  })
})

describe('a file', () => {
  it('is read whole, and its absence is told by the system', () => {
    const place = path.join(makeFolder(), 'a')
    expect(thrownBy(() => readRegular(place))).toMatchObject({ code: 'ENOENT' })
    writeFileSync(place, 'x'.repeat(300_000))
    expect(readRegular(place)).toEqual(readFileSync(place))
  })

  it.skipIf(process.platform === 'win32')('is as closed as it was when it is only read', () => {
    const place = path.join(makeFolder(), 'a')
    writeFileSync(place, '')
    chmodSync(place, 0o644)
    closeSync(openRegular(place, constants.O_RDONLY))
    expect(statSync(place).mode & 0o777).toBe(0o644)
    closeSync(openRegular(place, constants.O_WRONLY))
    expect(statSync(place).mode & 0o777).toBe(0o600)
  })
})

describe.skipIf(process.platform === 'win32').each([0o777, 0o077, 0])('with the umask %o', (umask) => {
  const before = process.umask()
  afterEach(() => process.umask(before))

  it('folders are 0700 and files 0600', async () => {
    const home = path.join(makeFolder(), 'home')
    process.umask(umask)
    await ensurePrivateFolder(path.join(home, 'a', 'b'))
    const file = (name: string) => path.join(home, 'a', name)
    closeSync(openRegular(file('opened'), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL))
    await writeFileDurably(file('durable'), 'x')
    await replaceDerivedFile(file('derived'), 'x')
    await (await tryLock(file('lock'), 'exclusive'))?.release()
    await (await tryLockWithoutKernel(file('fallback')))?.release()
    for (const name of ['opened', 'durable', 'derived', 'lock', 'fallback'])
      expect([name, (statSync(file(name)).mode & 0o777).toString(8)]).toEqual([name, '600'])
    for (const folder of [home, path.join(home, 'a'), path.join(home, 'a', 'b')])
      expect((statSync(folder).mode & 0o777).toString(8)).toBe('700')
    expect(existsSync(file('b'))).toBe(true)
  })
})
