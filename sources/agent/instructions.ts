import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { errnoOf } from '../errors.ts'
import type { InstructionFile } from './prompt.ts'

/** Bytes of all instruction files together; the nearest ones get their share first. */
const MAX_INSTRUCTION_BYTES = 32 * 1024

const NAME = 'AGENTS.md'

export interface Instructions {
  /** From the workspace's root down to the folder. */
  readonly files: ReadonlyArray<InstructionFile>
  /** Files that are there but cannot be used, and why. */
  readonly skipped: ReadonlyArray<{ readonly path: string; readonly reason: string }>
}

/**
 * Reads the `AGENTS.md` files from the workspace's root down to the folder the user opened. Both paths are canonical.
 * Nothing outside the root is read and nothing that `isClosed` says lies in the folder of cass, also not through a link.
 */
export async function readInstructions({
  root,
  folder,
  isClosed,
}: {
  root: string
  folder: string
  isClosed: (path: string) => Promise<boolean>
}): Promise<Instructions> {
  const files: InstructionFile[] = []
  const skipped: { path: string; reason: string }[] = []
  let room = MAX_INSTRUCTION_BYTES
  for (const place of foldersUpTo(root, folder)) {
    const path = relative(root, join(place, NAME)).split(sep).join('/')
    const found = await readOne({ root, isClosed, path: join(place, NAME), room })
    if (found === null) continue
    if ('reason' in found) skipped.unshift({ path, reason: found.reason })
    else {
      room -= Buffer.byteLength(found.content)
      files.unshift({ path, ...found })
    }
  }
  return { files, skipped }
}

/** The folder and those above it up to the root, nearest first; the folder alone when it is not inside the root. */
function foldersUpTo(root: string, folder: string): ReadonlyArray<string> {
  const places = [folder]
  if (!isInside(root, folder)) return places
  for (let place = folder; place !== root; ) {
    place = dirname(place)
    places.push(place)
  }
  return places
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

type Found = { readonly content: string; readonly cut: boolean } | { readonly reason: string }

/** One file, or null when there is none. */
async function readOne({
  root,
  isClosed,
  path,
  room,
}: {
  root: string
  isClosed: (path: string) => Promise<boolean>
  path: string
  room: number
}): Promise<Found | null> {
  let file: FileHandle | null = null
  try {
    const real = await realpath(path)
    if ((await isClosed(path)) || (await isClosed(real))) {
      return { reason: 'it is in the folder of cass itself' }
    }
    if (!isInside(root, real)) return { reason: 'it is a link that leads out of the workspace' }
    // Not blocking: a named pipe would keep the turn waiting for a writer.
    file = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = await file.stat()
    if (!stats.isFile()) return { reason: 'it is not a regular file' }
    const cut = stats.size > room
    const bytes = Buffer.alloc(Math.min(room, stats.size))
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    return decode(bytes.subarray(0, bytesRead), cut)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return null
    if (errno === null) throw error
    return { reason: `it cannot be read (${errno})` }
  } finally {
    await file?.close()
  }
}

function decode(bytes: Uint8Array, cut: boolean): Found {
  if (bytes.includes(0)) return { reason: 'it is not text' }
  try {
    // `stream` lets a character that the cut has halved pass; it is left out.
    const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
    return { content, cut }
  } catch {
    // The only error `decode` has here is bad UTF-8.
    return { reason: 'it is not UTF-8' }
  }
}
