import { hostname } from 'node:os'
import { sweepLeftovers } from '../conversation/leftovers.ts'
import { sweepDeadWriters, WriterLock } from '../conversation/writers.ts'
import { CassError, errnoOf } from '../errors.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import type { Place } from './place.ts'

/**
 * Runs `work` as a writer of conversations: other processes see for as long that this one lives. Throws `home_unwritable`
 * before anything is done, or what `work` throws.
 */
export async function withWriter<T>(place: Place, work: (writer: WriterLock) => Promise<T>): Promise<T> {
  const writer = await takeWriter(place)
  try {
    return await work(writer)
  } finally {
    await writer.release()
    await sweepDeadWriters(place.root)
    await sweepLeftovers(place.root, { hostname: hostname(), now: place.now() })
  }
}

async function takeWriter(place: Place): Promise<WriterLock> {
  try {
    await ensurePrivateFolder(place.root)
    const random8 = Buffer.from(place.random(8))
    return await WriterLock.take(place.root, {
      hostname: hostname(),
      pid: place.pid,
      random8,
      now: place.now(),
    })
  } catch (cause) {
    const reason = cause instanceof CassError ? null : errnoOf(cause)
    if (reason === null) throw cause
    throw new CassError('home_unwritable', `cannot write in the folder '${place.root}': ${reason}`, {
      cause,
      hint: 'free some space or check its permissions, or point CASS_HOME elsewhere',
    })
  }
}
