import { lstat, realpath } from 'node:fs/promises'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'

/** A path as somebody wrote it, and what it means. `real` is what is checked and then used. */
export interface ResolvedPath {
  readonly asked: string
  /** Absolute, `~` expanded, `.` and `..` taken away by text alone. */
  readonly lexical: string
  /** Canonical: no link on the way. For a path that does not exist, its nearest existing folder is canonical. */
  readonly real: string
  readonly exists: boolean
}

export interface PathBase {
  readonly cwd: string
  readonly home: string
}

/** Expands `~` and `~/…`, and makes a path absolute. Throws `invalid_path` for what no file can be called. */
export function expandPath(asked: string, { cwd, home }: PathBase): string {
  if (asked === '')
    throw new CassError('invalid_path', 'the path is empty', { hint: 'name a file or folder' })
  if (asked.includes('\0')) throw new CassError('invalid_path', 'the path has a NUL character in it')
  if (asked === '~') return path.resolve(home)
  if (asked.startsWith('~/') || asked.startsWith(`~${path.sep}`)) return path.resolve(home, asked.slice(2))
  return path.resolve(cwd, asked)
}

/**
 * The canonical form of a path that may not exist yet: its nearest existing folder made canonical, and the missing
 * names behind it. A link to something that does not exist is refused, since what it would create is elsewhere.
 */
export async function resolvePath(asked: string, base: PathBase): Promise<ResolvedPath> {
  const lexical = expandPath(asked, base)
  const missing: string[] = []
  for (let current = lexical; ; ) {
    const real = await tryRealPath(current, lexical)
    if (real !== null) {
      return { asked, lexical, real: path.join(real, ...missing), exists: missing.length === 0 }
    }
    missing.unshift(path.basename(current))
    const parent = path.dirname(current)
    if (parent === current) throw new CassError('path_not_found', `no existing ancestor for '${lexical}'`)
    current = parent
  }
}

async function tryRealPath(current: string, asked: string): Promise<string | null> {
  try {
    return await realpath(current)
  } catch (error) {
    const code = errnoOf(error)
    // A file in the place of a folder is found one step up, where it is said with its name.
    if (code === 'ENOTDIR') {
      throw new CassError('not_a_folder', `a part of '${asked}' is a file, not a folder`, { cause: error })
    }
    if (code !== 'ENOENT') throw unreadable(current, error)
  }
  try {
    await lstat(current)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw unreadable(current, error)
  }
  throw new CassError('dangling_link', `'${current}' is a link to something that does not exist`, {
    hint: 'use the path that the link names, or remove the link',
  })
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'a name in it is too long',
}

/** What is said of a path that was resolved and does not exist. */
export function pathNotFound({ lexical }: ResolvedPath): CassError {
  return new CassError('path_not_found', `no such file or folder: '${lexical}'`, {
    hint: 'look with ls or grep for the right path',
  })
}

function unreadable(current: string, error: unknown): CassError {
  const code = errnoOf(error) ?? 'unknown'
  const shown = current.length > 200 ? `${current.slice(0, 200)}…` : current
  return new CassError('path_unusable', `cannot use '${shown}': ${reasons[code] ?? code}`, { cause: error })
}
