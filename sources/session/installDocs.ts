import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { acquireLock } from '../files/lockFile.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import type { Place } from './place.ts'

/** Tells which version of the documentation is installed. */
const stampName = '.cass-docs-hash'

/**
 * Puts the bundled documentation where the model can read it, `docs-cass` below the root, and gives that folder. Nothing is
 * done when it is there already. The other program owns `docs`, so this is a folder of our own.
 */
export async function installDocs(place: Place): Promise<string> {
  const folder = path.join(place.root, 'docs-cass')
  const bundled = path.join(place.programFolder, 'docs')
  const hash = hashOf(bundled)
  if (readStamp(folder) === hash) return folder
  await ensurePrivateFolder(path.join(place.root, 'locks'))
  const lockFile = path.join(place.root, 'locks', 'docs-cass')
  const lock = await acquireLock({
    path: lockFile,
    mode: 'exclusive',
    timeoutMs: 10_000,
    subject: `the folder '${folder}'`,
  })
  try {
    if (readStamp(folder) !== hash) replaceFolder(folder, bundled, hash)
  } finally {
    await lock.release()
  }
  return folder
}

/** A hash over the names, sizes and times of all bundled files: reading them would be a part of every turn's start. */
export function hashOf(folder: string): string {
  const hash = createHash('sha256')
  for (const name of filesIn(folder)) {
    const { size, mtimeMs } = statSync(path.join(folder, name))
    hash.update(`${name}\0${size}\0${mtimeMs}\0`)
  }
  return hash.digest('hex').slice(0, 16)
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .toSorted()
}

function readStamp(folder: string): string | null {
  try {
    return readFileSync(path.join(folder, stampName), 'utf8').trim()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return null
    throw error
  }
}

/** Copied beside first, so that the folder is never half there. What stood at its name before was ours too. */
function replaceFolder(folder: string, bundled: string, hash: string): void {
  const fresh = `${folder}.new`
  const old = `${folder}.old`
  for (const leftover of [fresh, old]) rmSync(leftover, { recursive: true, force: true })
  mkdirSync(fresh, { mode: 0o700 })
  for (const name of filesIn(bundled)) {
    mkdirSync(path.dirname(path.join(fresh, name)), { recursive: true, mode: 0o700 })
    // Not copied with their modes: everything below the root is its owner's alone.
    writeFileSync(path.join(fresh, name), readFileSync(path.join(bundled, name)), { mode: 0o600 })
  }
  writeFileSync(path.join(fresh, stampName), `${hash}\n`, { mode: 0o600 })
  if (existsSync(folder)) renameSync(folder, old)
  renameSync(fresh, folder)
  rmSync(old, { recursive: true, force: true })
}
