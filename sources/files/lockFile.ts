import { closeSync, fstatSync, statSync } from 'node:fs'
import { CassError, errnoOf } from '../errors.ts'
import { tryLockWithoutKernel } from './lockFallback.ts'
import { loadNativeFiles } from './native.ts'
import { openLock } from './openLock.ts'

export type LockMode = 'shared' | 'exclusive'

export interface HeldLock {
  /** Ends the hold; calling it again does nothing. */
  release(): Promise<void>
}

/** How often a taken lock is tried again, in milliseconds (docs/storage.md, append). */
const pollEveryMs = 25

/**
 * Takes the lock on the small file `path` (made if missing, 0600; its folder must exist), or gives null when another
 * descriptor, of this process or another one, holds it. The kernel frees it when the process dies. Throws `lock_unusable`.
 *
 * A lock belongs to an inode: a file that was replaced between opening and locking is opened again, or two processes
 * could each hold "the" lock.
 */
export async function tryLock(path: string, mode: LockMode): Promise<HeldLock | null> {
  const native = await loadNativeFiles()
  if (native === null) return tryLockWithoutKernel(path)
  for (;;) {
    const fd = openLock(path)
    let granted = false
    try {
      granted = native.tryLock(fd, { shared: mode === 'shared' })
    } finally {
      if (!granted) closeSync(fd)
    }
    if (!granted) return null
    if (isStillAt(fd, path)) {
      let held = true
      return {
        async release() {
          if (!held) return
          held = false
          native.unlock(fd)
          closeSync(fd)
        },
      }
    }
    closeSync(fd)
  }
}

export interface AcquireOptions {
  readonly path: string
  readonly mode: LockMode
  /** Null: wait until `signal` says otherwise. */
  readonly timeoutMs: number | null
  readonly signal?: AbortSignal
  /** Called once, when the lock is not free at the first try. */
  readonly onWait?: () => void
  /** What waits for it, for the error: `the conversation '…'`. */
  readonly subject: string
}

/** Waits for a lock. Throws `lock_held` (busy) when the time is over, `lock_unusable`, or the signal's reason when it is aborted. */
export async function acquireLock({
  path,
  mode,
  timeoutMs,
  signal,
  onWait,
  subject,
}: AcquireOptions): Promise<HeldLock> {
  const started = performance.now()
  let announced = false
  for (;;) {
    signal?.throwIfAborted()
    const lock = await tryLock(path, mode)
    if (lock !== null) return lock
    if (!announced) {
      announced = true
      onWait?.()
    }
    if (timeoutMs !== null && performance.now() - started >= timeoutMs) {
      throw new CassError('lock_held', `${subject} is in use by another process`, {
        kind: 'busy',
        hint: `try again; the lock file is '${path}'`,
      })
    }
    await pause(pollEveryMs, signal)
  }
}

/** Whether nobody holds the lock; a file that is missing is a lock that nobody holds. Takes nothing. */
export async function isLockFree(path: string): Promise<boolean> {
  try {
    statSync(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return true
    throw error
  }
  const lock = await tryLock(path, 'shared')
  await lock?.release()
  return lock !== null
}

function isStillAt(fd: number, path: string): boolean {
  const held = fstatSync(fd, { bigint: true })
  try {
    const there = statSync(path, { bigint: true })
    return held.ino === there.ino && held.dev === there.dev
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
