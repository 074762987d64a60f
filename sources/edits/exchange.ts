import { constants, linkSync, lstatSync, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { errnoOf } from '../errors.ts'
import { loadNativeFiles } from '../files/native.ts'

/** Exchanges two paths of one file system in one step. */
export type Swap = (from: string, to: string) => Promise<void>

/** Null where there is none: on Windows the native call is three renames, which is no single step. */
export async function loadSwap(): Promise<Swap | null> {
  if (process.platform === 'win32') return null
  const native = await loadNativeFiles()
  return native === null ? null : (from, to) => native.swap(from, to)
}

/** After it, `target` is what `temp` was, and `temp` holds what `target` was. Throws ENOENT when `target` is missing. */
export async function exchangePaths(temp: string, target: string, swap: Swap | null): Promise<void> {
  if (swap !== null) {
    try {
      return await swap(temp, target)
    } catch (error) {
      if (!['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(errnoOf(error) ?? '')) throw error
    }
  }
  await exchangeBySteps(temp, target)
}

/**
 * The old file gets a second name before it is replaced, so its bytes have one at every moment. What another program
 * renames into place between the two steps is not seen: that is what the single step is for.
 */
async function exchangeBySteps(temp: string, target: string): Promise<void> {
  const old = `${temp}.old`
  if (!lstatSync(target).isFile() || !lstatSync(temp).isFile()) {
    // A folder or a link has taken the place, or goes back to it: nothing is renamed over those.
    renameSync(target, old)
    renameSync(temp, target)
    renameSync(old, temp)
    return
  }
  try {
    linkSync(target, old)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw error
    return replaceKeepingBytes(temp, target)
  }
  renameSync(temp, target)
  renameSync(old, temp)
}

/** Without hard links: an open descriptor keeps the old bytes, which are then written where they would have been. */
async function replaceKeepingBytes(temp: string, target: string): Promise<void> {
  const old = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    renameSync(temp, target)
    const { mode } = await old.stat()
    const kept = await open(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      await kept.writeFile(await old.readFile())
      await kept.chmod(mode & 0o7777)
      await kept.sync()
    } finally {
      await kept.close()
    }
  } finally {
    await old.close()
  }
}
