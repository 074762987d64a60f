import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import * as t from 'typanion'
import { CassError, errnoOf } from '../errors.ts'
import { writeFileDurably } from '../files/durable.ts'
import { acquireLock } from '../files/lockFile.ts'
import { readRegular, reasonOf } from '../files/openRegular.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import { isSafeComponent } from './ids.ts'
import { tryParseJson } from './json.ts'

/** Where the next process in a folder begins. */
export interface CurrentBranch {
  readonly chat_id: string
  readonly conversation: string
}

const isCurrentBranch = t.isPartial({ chat_id: t.isString(), conversation: t.isString() })

/**
 * The folder's current branch; null when none was chosen. Throws `current_branch_unreadable`, also for a file that names no
 * branch: for what goes on from the current branch, that is not the same as none.
 */
export function readCurrentBranch(root: string, folder: string): CurrentBranch | null {
  const file = fileOf(root, folder)
  const text = readIfThere(file)
  const current = tryParseCurrent(text)
  if (current !== null || text === '') return current
  throw new CassError('current_branch_unreadable', `the file '${file}' names no branch: it is damaged`, {
    hint: 'list branches with cass branches --all, then choose one anew: cass switch BRANCH',
  })
}

/** The same for what can do without: null also for a damaged file. Throws `current_branch_unreadable` for one that cannot be read. */
export function tryReadCurrentBranch(root: string, folder: string): CurrentBranch | null {
  return tryParseCurrent(readIfThere(fileOf(root, folder)))
}

export interface CurrentBranchChange {
  readonly root: string
  /** Canonical. */
  readonly folder: string
  /** What this process last saw there; another value is another process's choice and stays. */
  readonly seen: CurrentBranch | null
  readonly next: CurrentBranch
  /** The operations lock of the folder's workspace. */
  readonly lockFile: string
  readonly now: Date
}

/**
 * Chooses a folder's current branch. Gives false, and changes nothing, when another process chose meanwhile. A damaged file is
 * nobody's choice and is replaced: it held no more than the name of a branch, so there is nothing to keep of it.
 */
export async function writeCurrentBranch({
  root,
  folder,
  seen,
  next,
  lockFile,
  now,
}: CurrentBranchChange): Promise<boolean> {
  await ensurePrivateFolder(path.dirname(lockFile))
  await ensurePrivateFolder(path.join(root, 'heads'))
  const lock = await acquireLock({
    path: lockFile,
    mode: 'exclusive',
    timeoutMs: 10_000,
    subject: `the folder '${folder}'`,
  })
  try {
    const before = readIfThere(fileOf(root, folder))
    const there = tryParseCurrent(before)
    const isDamaged = there === null && before !== ''
    if (!isDamaged && there?.chat_id !== seen?.chat_id) return there?.chat_id === next.chat_id
    const text = JSON.stringify({ folder, ...next, updated_at: now.toISOString() }, null, 2)
    await writeFileDurably(fileOf(root, folder), `${text}\n`)
    return true
  } finally {
    await lock.release()
  }
}

function fileOf(root: string, folder: string): string {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  return path.join(root, 'heads', `${name}.json`)
}

/** Whether a branch is the current one of any folder. */
export function isCurrentAnywhere(root: string, chatId: string): boolean {
  let names: string[] = []
  try {
    names = readdirSync(path.join(root, 'heads'))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
  return names.some(
    (name) =>
      name.endsWith('.json') &&
      tryParseCurrent(readIfThere(path.join(root, 'heads', name)))?.chat_id === chatId,
  )
}

function readIfThere(file: string): string {
  try {
    return readRegular(file).toString('utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return ''
    throw new CassError('current_branch_unreadable', `cannot read '${file}': ${reasonOf(error)}`, {
      cause: error,
      hint: 'check its permissions, or move it away and choose a branch with: cass switch BRANCH',
    })
  }
}

function tryParseCurrent(text: string): CurrentBranch | null {
  const value = tryParseJson(text)
  if (!isCurrentBranch(value) || !isSafeComponent(value.chat_id) || !isSafeComponent(value.conversation))
    return null
  return { chat_id: value.chat_id, conversation: value.conversation }
}
