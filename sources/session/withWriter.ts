import { hostname } from 'node:os'
import { sweepDeadWriters, WriterLock } from '../conversation/writers.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import type { Place } from './place.ts'

/** Runs `work` as a writer of conversations: other processes see for as long that this one lives. */
export async function withWriter<T>(place: Place, work: (writer: WriterLock) => Promise<T>): Promise<T> {
  await ensurePrivateFolder(place.root)
  const random8 = Buffer.from(place.random(8))
  const writer = await WriterLock.take(place.root, {
    hostname: hostname(),
    pid: place.pid,
    random8,
    now: place.now(),
  })
  try {
    return await work(writer)
  } finally {
    await writer.release()
    await sweepDeadWriters(place.root)
  }
}
