import { createHash } from 'node:crypto'
import path from 'node:path'
import { acquireLock, type HeldLock } from '../files/lockFile.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'

/** How long to wait for others who write in the same workspace, and who hears of it. */
export interface HoldWait {
  /** Null: until `signal` ends it. */
  readonly timeoutMs: number | null
  readonly signal: AbortSignal | null
  /** Called once if it must wait, with what is going to be written; must not throw. */
  readonly onWait: ((written: string) => void) | null
}

export interface HoldPlace {
  /** The home of `cass`. */
  readonly home: string
  /** The workspace's key. */
  readonly key: string
}

/** `locks/workspace/<key>` of a home. */
export function workspaceLocks({ home, key }: HoldPlace): string {
  return path.join(home, 'locks', 'workspace', key)
}

/**
 * Held while one file is written: shared on the workspace, so that other files can be written at once, and alone on
 * the file. `file` is spelled as in the journal.
 */
export async function holdForPath(place: HoldPlace, file: string, wait: HoldWait): Promise<HeldLock> {
  const once = announceOnce(wait, `'${file}'`)
  const workspace = await take(place, 'workspace', 'shared', once)
  try {
    const own = await take(place, `path-${stripeOf(file)}`, 'exclusive', once)
    return {
      async release() {
        await own.release()
        await workspace.release()
      },
    }
  } catch (error) {
    await workspace.release()
    throw error
  }
}

/** Held while something may write anywhere in the workspace: a shell command, a restore. */
export async function holdWhole(place: HoldPlace, wait: HoldWait): Promise<HeldLock> {
  return take(place, 'workspace', 'exclusive', announceOnce(wait, 'the whole workspace'))
}

interface NamedWait extends HoldWait {
  readonly announce: () => void
  readonly written: string
}

async function take(
  place: HoldPlace,
  name: string,
  mode: 'shared' | 'exclusive',
  { timeoutMs, signal, announce, written }: NamedWait,
): Promise<HeldLock> {
  const folder = workspaceLocks(place)
  await ensurePrivateFolder(folder)
  return acquireLock({
    path: path.join(folder, name),
    mode,
    timeoutMs,
    ...(signal === null ? {} : { signal }),
    onWait: announce,
    subject: `the workspace (to write ${written})`,
  })
}

function announceOnce(wait: HoldWait, written: string): NamedWait {
  let announced = false
  return {
    ...wait,
    written,
    announce: () => {
      if (!announced) wait.onWait?.(written)
      announced = true
    },
  }
}

/** 4096 lock files at most for each workspace; two files that share one only wait for each other. */
function stripeOf(file: string): string {
  return createHash('sha256').update(file).digest('hex').slice(0, 3)
}
