import { chmodSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { syncFolder } from './durable.ts'

/**
 * Makes a folder, and those above it that are missing, readable by its owner only, whatever the umask is; an existing one that
 * is looser is tightened. A new folder's entry is synced, or files synced inside it could still vanish with it.
 */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  // Asked before every append and lock, so the usual answer must cost next to nothing.
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
    return
  }
  // One by one: what the umask took from a folder is needed to make the next one in it.
  const missing = missingFolders(folder)
  for (const each of missing) makeFolder(each)
  for (const each of missing) await syncFolder(path.dirname(each))
}

/** The folder and those above it that are not there, outermost first. */
function missingFolders(folder: string): string[] {
  const missing: string[] = []
  for (let each = path.resolve(folder); !isThere(each); each = path.dirname(each)) missing.unshift(each)
  // Something else has its name: making it says so.
  return missing.length === 0 ? [folder] : missing
}

function isThere(place: string): boolean {
  return place === path.dirname(place) || statSync(place, { throwIfNoEntry: false }) !== undefined
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process makes it too, and gives it its rights.
    if (errnoOf(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
    return
  }
  if (process.platform !== 'win32') chmodSync(folder, 0o700)
}
