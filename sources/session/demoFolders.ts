import { lstat, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { isInside } from '../workspace/policy.ts'

/** How the names of scratch folders begin; six characters of chance follow. */
export const DEMO_PREFIX = 'cass-demo-'
/** The file that makes a folder a demo's, with its whole text. */
export const DEMO_MARKER = '.cass-demo'
export const DEMO_MARKER_TEXT = 'Scratch folder of the cass demo, removed by a later demo.\n'

const DEMO_NAME = /^cass-demo-[A-Za-z0-9]{6}$/
const DAY_MS = 24 * 60 * 60 * 1000

/** Whether a demo made this folder, for this user: by its name, its owner and the exact marker in it. */
export async function isDemoFolder(folder: string): Promise<boolean> {
  return (await lastUse(folder)) !== null
}

/**
 * Removes the scratch folders of demos that were not used for a day, but never the one that holds `keep`. What cannot be
 * removed stays: a demo must not fail for it.
 */
export async function sweepDemos({
  parent,
  now,
  keep,
}: {
  readonly parent: string
  readonly now: Date
  readonly keep: string
}): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const folder = path.join(parent, name)
    const used = DEMO_NAME.test(name) && !isInside(keep, folder) ? await lastUse(folder) : null
    if (used === null || now.getTime() - used <= DAY_MS) continue
    await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}

/** When a demo's folder was last used, in milliseconds; null for any other folder. Links are not followed. */
async function lastUse(folder: string): Promise<number | null> {
  if (!DEMO_NAME.test(path.basename(folder))) return null
  const marker = path.join(folder, DEMO_MARKER)
  try {
    const [outer, inner] = await Promise.all([lstat(folder), lstat(marker)])
    const isOurs = [outer, inner].every(({ uid }) => uid === (process.getuid?.() ?? uid))
    if (!isOurs || !outer.isDirectory() || !inner.isFile()) return null
    if (inner.size !== DEMO_MARKER_TEXT.length || (await readFile(marker, 'utf8')) !== DEMO_MARKER_TEXT)
      return null
    return Math.max(inner.mtimeMs, await lastChange(path.join(folder, 'home', 'conversations')))
  } catch {
    // Not there, or not ours to look at: no demo's folder.
    return null
  }
}

/** When a file of a folder was last written; a demo's chats tell that it is in use. */
async function lastChange(folder: string): Promise<number> {
  let last = 0
  for (const name of await readdir(folder).catch(() => [])) {
    last = Math.max(last, (await lstat(path.join(folder, name))).mtimeMs)
  }
  return last
}
