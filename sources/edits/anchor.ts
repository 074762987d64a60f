import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, rmdirSync } from 'node:fs'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { syncFolder } from '../files/durable.ts'

/**
 * A folder that was reached one parent at a time, never through a link. On Linux its entries stay in that very folder
 * even if a parent is replaced meanwhile; elsewhere `verify` looks again.
 */
export interface FolderAnchor {
  /** The path to use for an entry of the folder. */
  entry(name: string): string
  /** Throws `unsafe_path` when the way to the folder is no longer the one that was checked. */
  verify(): void
  sync(): Promise<void>
  close(): void
  /** Removes the folders that were made on the way, as far as they are empty. */
  removeMade(): void
}

/** The folders that are missing on the way to `folder`, outermost first. Throws `unsafe_path` at a link. */
export function missingFolders(folder: string): string[] {
  const missing: string[] = []
  for (const step of stepsTo(folder)) {
    if (missing.length > 0 || !isFolderThere(step)) missing.push(step)
  }
  return missing
}

/** Opens a folder and makes what is missing of it. */
export function openAnchor(folder: string): FolderAnchor {
  const made: string[] = []
  return canAnchor() ? anchorByDescriptor(folder, made) : anchorByPath(folder, made)
}

// Not among Node's constants; the same on every architecture that Node runs on under Linux. Unlike reading, it needs no
// permission to list the folder.
const openPathOnly = 0o10000000

function canAnchor(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/fd')
}

function anchorByDescriptor(folder: string, made: string[]): FolderAnchor {
  const flags = openPathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const [top, ...steps] = stepsTo(folder)
  if (top === undefined) throw new Error(`Assertion failed: '${folder}' is not an absolute path`)
  let fd = openSync(top, flags)
  try {
    for (const step of steps) {
      const next = openStep(step, `/proc/self/fd/${fd}/${path.basename(step)}`, flags, made)
      closeSync(fd)
      fd = next
    }
  } catch (error) {
    closeSync(fd)
    throw error
  }
  const base = `/proc/self/fd/${fd}`
  return {
    entry: (name) => `${base}/${name}`,
    verify: () => undefined,
    sync: () => syncFolders(base, made),
    close: () => closeSync(fd),
    removeMade: () => removeEmpty(made),
  }
}

function openStep(step: string, through: string, flags: number, made: string[]): number {
  for (;;) {
    try {
      return openSync(through, flags)
    } catch (error) {
      const code = errnoOf(error)
      if (code === 'ENOTDIR' || code === 'ELOOP') throw unsafePath(step, error)
      if (code !== 'ENOENT') throw error
    }
    makeFolder(step, through, made)
  }
}

function anchorByPath(folder: string, made: string[]): FolderAnchor {
  for (const step of stepsTo(folder)) {
    if (!isFolderThere(step)) makeFolder(step, step, made)
  }
  return {
    entry: (name) => path.join(folder, name),
    verify: () => {
      if (missingFolders(folder).length > 0) throw unsafePath(folder)
    },
    sync: () => syncFolders(folder, made),
    close: () => undefined,
    removeMade: () => removeEmpty(made),
  }
}

function makeFolder(step: string, through: string, made: string[]): void {
  try {
    mkdirSync(through)
    made.push(step)
  } catch (error) {
    // Someone else made it meanwhile: what it is shows when it is opened.
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

async function syncFolders(folder: string, made: ReadonlyArray<string>): Promise<void> {
  try {
    for (const step of made) await syncFolder(path.dirname(step))
    await syncFolder(folder)
  } catch (error) {
    // A folder that may be written but not read cannot be opened for this; the change itself is done.
    if (errnoOf(error) !== 'EACCES') throw error
  }
}

function removeEmpty(made: ReadonlyArray<string>): void {
  for (const step of made.toReversed()) {
    try {
      rmdirSync(step)
    } catch {
      // In use by now, or gone: either way it is not ours to remove, nor are those around it.
      return
    }
  }
}

function isFolderThere(step: string): boolean {
  const stat = lstatSync(step, { throwIfNoEntry: false })
  if (stat === undefined) return false
  if (!stat.isDirectory()) throw unsafePath(step)
  return true
}

function unsafePath(step: string, cause?: unknown): CassError {
  return new CassError('unsafe_path', `'${step}' is not a folder but a link or a file`, {
    kind: 'refused',
    hint: 'name the file by its real path',
    cause,
  })
}

/** `/`, `/a`, `/a/b` for `/a/b`. */
function stepsTo(folder: string): string[] {
  const steps = [folder]
  for (let at = folder; path.dirname(at) !== at; at = path.dirname(at)) steps.unshift(path.dirname(at))
  return steps
}
