import path from 'node:path'
import { makeChatId, makeMessageId } from '../conversation/ids.ts'
import { findWorkspace, type Workspace } from '../workspace/root.ts'

/**
 * Where a verb works and what it may know of the world outside: read once by the program that calls, so that the library
 * itself never looks at the environment, the clock or chance.
 */
export interface Place {
  /** Where conversations and settings live: `$CASS_HOME`, else `~/.cass`. */
  readonly root: string
  /** The folder that is worked in; canonical. */
  readonly cwd: string
  /** The user's home, for `~` in paths. */
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => Date
  readonly random: (bytes: number) => Uint8Array
  readonly pid: number
  /** Where the program lies, with its documentation (`docs/`) and its sample project (`sample-project/`). */
  readonly programFolder: string
}

/** The workspace of the place's folder. */
export function workspaceOf(place: Place): Workspace {
  return findWorkspace(place.cwd)
}

/** The lock under which a workspace's current branches and operations change. */
export function operationsLock(place: Place): string {
  return path.join(place.root, 'locks', 'workspace', workspaceOf(place).key, 'operations')
}

export function newChatId(place: Place): string {
  const now = place.now()
  return makeChatId({
    nowMs: now.getTime(),
    offsetMinutes: -now.getTimezoneOffset(),
    random4: place.random(4),
  })
}

/** A fresh id for a message or a turn. */
export function newMessageId(place: Place): string {
  return makeMessageId(place.now().getTime(), place.random(10))
}
