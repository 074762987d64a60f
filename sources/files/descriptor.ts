import { fsync, read, readSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'

/**
 * Reads and writes up to this size are done at once: they end in the page cache sooner than another thread could be
 * asked. Larger ones, and every sync, leave the event loop free.
 */
const smallBytes = 256 * 1024

const readLater = promisify(read)
const writeLater = promisify(write)

/** Waits until the disk has what was written to the descriptor. */
export const syncDescriptor = promisify(fsync)

/** Fills `buffer` from `offset` on; gives how many bytes were there, which is less only at the end of the file. */
export async function readAt(fd: number, buffer: Buffer, offset: number, position: number): Promise<number> {
  let filled = offset
  while (filled < buffer.length) {
    const length = buffer.length - filled
    const at = position + filled - offset
    const count =
      length <= smallBytes
        ? readSync(fd, buffer, filled, length, at)
        : (await readLater(fd, buffer, filled, length, at)).bytesRead
    if (count === 0) break
    filled += count
  }
  return filled - offset
}

/** Writes all bytes at the descriptor's own position. A short write is an error of the disk, told by the next one. */
export async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    const rest = bytes.length - done
    done +=
      rest <= smallBytes
        ? writeSync(fd, bytes, done, rest)
        : (await writeLater(fd, bytes, done, rest, null)).bytesWritten
  }
}
