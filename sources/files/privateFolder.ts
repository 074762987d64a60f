import { chmod, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { syncFolder } from './durable.ts'

/**
 * Makes a folder, and those above it that are missing, readable by its owner only; an existing one that is looser is
 * tightened. A new folder's entry is synced, or files synced inside it could still vanish with it.
 */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (firstMade !== undefined) {
    for (let made = folder; made.length >= firstMade.length; made = path.dirname(made))
      await syncFolder(path.dirname(made))
    return
  }
  const { mode } = await stat(folder)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) await chmod(folder, 0o700)
}
