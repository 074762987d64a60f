import { readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { acquireLock, type HeldLock, isLockFree, tryLock } from '../files/lockFile.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import { isSafeComponent, makeWriterId, tryParseWriterId, type WriterId } from './ids.ts'
import { writersFolder } from './paths.ts'

/** The lock that a writing process holds for life: while it is held, the process's open turns are its own. */
export class WriterLock {
  readonly id: WriterId
  readonly pid: number
  readonly hostname: string
  readonly #file: string
  readonly #lock: HeldLock

  private constructor(id: WriterId, pid: number, hostname: string, file: string, lock: HeldLock) {
    this.id = id
    this.pid = pid
    this.hostname = hostname
    this.#file = file
    this.#lock = lock
  }

  /** Makes this process a writer. The random bytes make its id one that was never used before. */
  static async take(
    root: string,
    {
      hostname,
      pid,
      random8,
      now,
    }: { readonly hostname: string; readonly pid: number; readonly random8: Buffer; readonly now: Date },
  ): Promise<WriterLock> {
    await ensurePrivateFolder(writersFolder(root))
    const id = makeWriterId(hostname, pid, random8)
    const file = path.join(writersFolder(root), id)
    // A sweep may hold the new file for the moment that it looks at it.
    const lock = await acquireLock({
      path: file,
      mode: 'exclusive',
      timeoutMs: 5000,
      subject: `the lock '${file}'`,
    })
    writeFileSync(file, `${JSON.stringify({ pid, hostname, since: now.toISOString() })}\n`)
    return new WriterLock(id, pid, hostname, file, lock)
  }

  /** Ends the process's life as a writer; its turns must be over. */
  async release(): Promise<void> {
    try {
      unlinkSync(this.#file)
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
    }
    await this.#lock.release()
  }
}

/**
 * Whether a writer's process is gone. A process of another host counts as living, since its lock cannot be asked; so does an
 * id that is none of ours.
 */
export async function isWriterDead(root: string, hostname: string, writer: string): Promise<boolean> {
  const parsed = tryParseWriterId(writer)
  if (parsed === null || !isSafeComponent(writer)) return false
  if (parsed.hostname !== tryParseWriterId(makeWriterId(hostname, 0, Buffer.alloc(8)))?.hostname) return false
  return isLockFree(path.join(writersFolder(root), writer))
}

/** Removes the lock files of dead writers: their ids are never used again. */
export async function sweepDeadWriters(root: string): Promise<void> {
  let names: string[] = []
  try {
    names = readdirSync(writersFolder(root))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
  for (const name of names) {
    if (tryParseWriterId(name) === null) continue
    const file = path.join(writersFolder(root), name)
    // Removed while it is held: a file that its owner is about to lock must not vanish under the lock.
    const lock = await lockOfWriter(file)
    if (lock === null) continue
    try {
      unlinkSync(file)
    } catch (error) {
      // Another process sweeps too.
      if (errnoOf(error) !== 'ENOENT') throw error
    } finally {
      await lock.release()
    }
  }
}

/** Null when its process lives, and for what is no lock: a sweep leaves it alone. */
async function lockOfWriter(file: string): Promise<HeldLock | null> {
  try {
    return await tryLock(file, 'exclusive')
  } catch (error) {
    if (error instanceof CassError && error.code === 'lock_unusable') return null
    throw error
  }
}
