import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { writeFileDurably } from '../files/durable.ts'
import { isOtherKind, readRegular } from '../files/openRegular.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'

/** The folder that a journal, its locks and its operations belong to. */
export interface Workspace {
  /** Canonical. */
  readonly root: string
  /** 16 hex digits of the root's SHA-256: the name of its folder under `workspaces/`. */
  readonly key: string
}

/** What `about.json` says: whose folder this is, and which spellings of a path name the same file there. */
interface WorkspaceAbout {
  readonly v: 1
  readonly root: string
  readonly case: 'sensitive' | 'insensitive'
  /** `nfc`: composed and decomposed spellings are one name; `exact`: they are two. */
  readonly unicode: 'exact' | 'nfc'
}

/** The workspace of a folder: its nearest ancestor with a `.git`, else the folder itself. */
export function findWorkspace(folder: string): Workspace {
  const start = canonicalFolder(folder)
  for (let at = start; ; at = path.dirname(at)) {
    if (isThere(path.join(at, '.git'))) return makeWorkspace(at)
    if (at === path.dirname(at)) return makeWorkspace(start)
  }
}

/** `root` must be canonical already. */
export function makeWorkspace(root: string): Workspace {
  return { root, key: createHash('sha256').update(root).digest('hex').slice(0, 16) }
}

/** `workspaces/<key>` of a home. */
export function workspaceFolder(home: string, key: string): string {
  return path.join(home, 'workspaces', key)
}

/** Makes the folder of a workspace, with its `about.json`, which is written once and then left alone. */
export async function ensureWorkspaceFolder(home: string, workspace: Workspace): Promise<string> {
  const folder = workspaceFolder(home, workspace.key)
  await ensurePrivateFolder(home)
  await ensurePrivateFolder(folder)
  const file = path.join(folder, 'about.json')
  if (isThere(file)) return folder
  const about: WorkspaceAbout = { v: 1, root: workspace.root, ...probeNames(workspace.root) }
  await writeFileDurably(file, `${JSON.stringify(about)}\n`)
  return folder
}

/** The root that a workspace's folder was made for; null when there is none, or its file cannot be understood. */
export async function readWorkspaceRoot(home: string, key: string): Promise<string | null> {
  try {
    const about: unknown = JSON.parse(
      readRegular(path.join(workspaceFolder(home, key), 'about.json')).toString('utf8'),
    )
    if (typeof about !== 'object' || about === null || !('root' in about)) return null
    return typeof about.root === 'string' ? about.root : null
  } catch (error) {
    // A damaged description is as good as none: nothing depends on it but the name shown to people.
    if (errnoOf(error) === 'ENOENT' || isOtherKind(error) || error instanceof SyntaxError) return null
    throw error
  }
}

/** Asks the file system with names that are there already: nothing is written into the user's folder. */
function probeNames(root: string): Pick<WorkspaceAbout, 'case' | 'unicode'> {
  const entries = [root, ...readdirSync(root).map((name) => path.join(root, name))]
  const folded = sameUnder(entries, (name) =>
    name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase(),
  )
  const composed = sameUnder(entries, (name) =>
    name === name.normalize('NFC') ? name.normalize('NFD') : name.normalize('NFC'),
  )
  const byPlatform = process.platform === 'darwin' || process.platform === 'win32'
  return {
    case: (folded ?? byPlatform) ? 'insensitive' : 'sensitive',
    unicode: (composed ?? process.platform === 'darwin') ? 'nfc' : 'exact',
  }
}

/** Whether the first path whose last name changes under `respell` is still the same file; null when none changes. */
function sameUnder(paths: ReadonlyArray<string>, respell: (name: string) => string): boolean | null {
  for (const file of paths) {
    const name = path.basename(file)
    if (respell(name) === name) continue
    const one = lstatSync(file, { throwIfNoEntry: false })
    const other = lstatSync(path.join(path.dirname(file), respell(name)), { throwIfNoEntry: false })
    if (one !== undefined) return other !== undefined && other.ino === one.ino && other.dev === one.dev
  }
  return null
}

function canonicalFolder(folder: string): string {
  try {
    const real = realpathSync.native(folder)
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw new CassError(
      'folder_not_found',
      `cannot open the folder '${folder}': ${errnoOf(error) ?? String(error)}`,
      {
        hint: 'check the path, or give another one with --cwd',
        cause: error,
      },
    )
  }
  throw new CassError('folder_not_found', `'${folder}' is not a folder`, { hint: 'give a folder with --cwd' })
}

function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    // A folder that may not be searched cannot tell us about a `.git` either.
    if (errnoOf(error) === 'EACCES') return false
    throw error
  }
}
