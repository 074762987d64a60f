import { realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CassError, errnoOf } from '../sources/errors.ts'
import type { Place } from '../sources/session/place.ts'
import type { CommandContext } from './context.ts'

/** Where the core works: the folder, the home of all conversations, the clock and chance. */
export function makePlace(context: CommandContext): Place {
  const { cwd, env, home, now, randomBytes, pid, programFolder } = context
  const root = env.CASS_HOME ? resolve(cwd, env.CASS_HOME) : join(home, '.cass')
  return { root, cwd: readFolder(cwd), home, env, now, random: randomBytes, pid, programFolder }
}

function readFolder(path: string): string {
  try {
    if (statSync(path).isDirectory()) return realpathSync(path)
  } catch (cause) {
    if (errnoOf(cause) === null) throw cause
    const hint = 'name an existing folder with `--cwd`'
    throw new CassError('no_folder', `folder '${path}' cannot be opened (${errnoOf(cause)})`, { hint, cause })
  }
  throw new CassError('no_folder', `'${path}' is no folder`, { hint: 'name an existing folder with `--cwd`' })
}
