import { chmodSync, fchmodSync, fstatSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { syncFolder } from './durable.ts'

/**
 * Makes a folder, and those above it that are missing, readable by its owner only; an existing one that is looser is
 * tightened. A new folder's entry is synced, or files synced inside it could still vanish with it.
 */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  // Asked before every append and lock, so the usual answer must cost next to nothing.
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
    return
  }
  const firstMade = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (firstMade === undefined) return
  for (let made = folder; made.length >= firstMade.length; made = path.dirname(made))
    await syncFolder(path.dirname(made))
}

/** Makes an open file readable by its owner only, when it is looser and its owner is the one who asks. */
export function tightenFile(fd: number): void {
  if (process.platform === 'win32' || (fstatSync(fd).mode & 0o077) === 0) return
  try {
    fchmodSync(fd, 0o600)
  } catch (error) {
    // It can be written all the same, and whoever owns it decides who else may.
    if (errnoOf(error) !== 'EPERM') throw error
  }
}
