import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { CassError, errnoOf } from '../sources/errors.ts'
import type { Place } from '../sources/session/place.ts'
import type { CommandContext } from './context.ts'

/** Where the core works: the folder, the home of all conversations, and the clock. Throws `folder_not_found`. */
export function makePlace({ cwd, env, home, now, randomBytes, pid, programFolder }: CommandContext): Place {
  const root = env.CASS_HOME ? resolve(cwd, env.CASS_HOME) : resolve(home, '.cass')
  return { root, cwd: canonical(cwd), env, home, now, random: randomBytes, pid, programFolder }
}

// One folder has many spellings, and its chats are found by one.
function canonical(folder: string): string {
  try {
    return realpathSync.native(folder)
  } catch (cause) {
    throw new CassError('folder_not_found', `cannot open the folder '${folder}': ${errnoOf(cause)}`, {
      hint: 'check the path, or give another one with --cwd',
      cause,
    })
  }
}
