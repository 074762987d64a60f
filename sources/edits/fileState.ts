import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { errnoOf } from '../errors.ts'
import { readAt } from '../files/descriptor.ts'
import type { FileSide } from './journalLine.ts'

/** What is at a path. Links are never followed. */
export type FileLook =
  | { readonly kind: 'absent' }
  | RegularFile
  /** `special`: a folder, a device, a pipe, a socket. */
  | { readonly kind: 'link' | 'special' }
  | { readonly kind: 'unreadable'; readonly cause: unknown }
  /** Larger than the limit that was asked for; nothing was read. */
  | { readonly kind: 'oversized'; readonly size: number; readonly mode: number; readonly stamp: FileStamp }

export interface RegularFile {
  readonly kind: 'file'
  readonly sha256: string
  readonly size: number
  /** Permission bits. */
  readonly mode: number
  /** Null when only the hash was asked for. */
  readonly bytes: Buffer | null
  /** From before the bytes were read; null when the file changed meanwhile. */
  readonly stamp: FileStamp | null
}

/** A regular file with its bytes. */
export type FoundFile = Pick<RegularFile, 'sha256' | 'size' | 'mode'> & { readonly bytes: Buffer }

/** What tells cheaply that a file is the one looked at before. Decimal text, since inodes and times exceed doubles. */
export interface FileStamp {
  readonly size: number
  readonly mode: number
  readonly mtime_ns: string
  readonly ctime_ns: string
  readonly ino: string
}

const chunkBytes = 1 << 20

/** `keepBytes` reads the file into one buffer, else it is only hashed, with little memory. */
export interface LookOptions {
  readonly keepBytes: boolean
  /** Larger files are `oversized`; null: no limit. */
  readonly maxBytes: number | null
}

/** Looks at one path without following a link there. Only unexpected errors are thrown. */
export async function lookAt(file: string, options: LookOptions): Promise<FileLook> {
  const { fd, look } = await openLook(file, options)
  if (fd !== null) closeSync(fd)
  return look
}

/** A look, and for a regular file the descriptor that it was made through, which whoever gets it must close. */
export type OpenLook =
  | { readonly fd: number; readonly look: RegularFile }
  | { readonly fd: null; readonly look: Exclude<FileLook, RegularFile> }

/** The same as `lookAt`, but a regular file stays open, so that it can be looked at when it has no name any more. */
export async function openLook(file: string, { keepBytes, maxBytes }: LookOptions): Promise<OpenLook> {
  let fd: number
  try {
    const kind = kindAt(file)
    if (kind !== 'file') return { fd: null, look: { kind } }
    // Without O_NONBLOCK a pipe that took the file's place meanwhile would hang the open.
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = errnoOf(error) ?? ''
    if (code === 'ENOENT' || code === 'ENOTDIR') return { fd: null, look: { kind: 'absent' } }
    if (code === 'ELOOP') return { fd: null, look: { kind: 'link' } }
    if (code === 'EACCES' || code === 'EPERM') return { fd: null, look: { kind: 'unreadable', cause: error } }
    throw error
  }
  let stays = false
  try {
    const look = await lookInto(fd, keepBytes, maxBytes)
    stays = look.kind === 'file'
    return look.kind === 'file' ? { fd, look } : { fd: null, look }
  } catch (error) {
    if (errnoOf(error) === 'EIO') return { fd: null, look: { kind: 'unreadable', cause: error } }
    throw error
  } finally {
    if (!stays) closeSync(fd)
  }
}

/** The same for a file that is open already. */
export async function lookInto(fd: number, keepBytes: boolean, maxBytes: number | null): Promise<FileLook> {
  const stat = fstatSync(fd, { bigint: true })
  if (!stat.isFile()) return { kind: 'special' }
  const stamp = stampOf(stat)
  if (maxBytes !== null && stamp.size > maxBytes)
    return { kind: 'oversized', size: stamp.size, mode: stamp.mode, stamp }
  const content = keepBytes ? await readAll(fd, stamp.size) : await hashAll(fd, stamp.size)
  const later = stampOf(fstatSync(fd, { bigint: true }))
  const still = isSameStamp(stamp, later) && content.size === stamp.size
  return { kind: 'file', mode: later.mode, stamp: still ? stamp : null, ...content }
}

/** The stamp of a file that is open already. */
export function stampInto(fd: number): FileStamp {
  return stampOf(fstatSync(fd, { bigint: true }))
}

/** The stamp of a regular file, null for anything else. */
export function stampAt(file: string): FileStamp | null {
  try {
    const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false })
    return stat?.isFile() ? stampOf(stat) : null
  } catch (error) {
    // Not reachable: the full look that follows says why.
    if (['ENOTDIR', 'EACCES', 'ELOOP'].includes(errnoOf(error) ?? '')) return null
    throw error
  }
}

/** Whether two looks cannot be told apart by what a stamp holds. */
export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return (
    a.size === b.size &&
    a.mode === b.mode &&
    a.mtime_ns === b.mtime_ns &&
    a.ctime_ns === b.ctime_ns &&
    a.ino === b.ino
  )
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The side of a journal line for a file that is not there. */
export const absentSide: FileSide = { exists: false, bytes: false }

/** The side of a journal line for a regular file; `stored`: its bytes are in the snapshot store. */
export function sideOf(
  file: { readonly sha256: string; readonly size: number; readonly mode: number },
  stored: boolean,
): FileSide {
  return { exists: true, sha256: file.sha256, mode: file.mode.toString(8), size: file.size, bytes: stored }
}

/** Whether two sides are the same state: existence, bytes and mode. A side without SHA-256 equals nothing that exists. */
export function isSameSide(a: FileSide, b: FileSide): boolean {
  if (!a.exists || !b.exists) return a.exists === b.exists
  return a.sha256 !== undefined && a.sha256 === b.sha256 && a.mode === b.mode
}

/** Whether what was seen is the state of `side`. */
export function isLookOf(look: FileLook, side: FileSide): boolean {
  if (look.kind === 'absent') return !side.exists
  return look.kind === 'file' && isSameSide(sideOf(look, false), side)
}

interface BigStat {
  readonly size: bigint
  readonly mode: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly ino: bigint
}

function stampOf(stat: BigStat): FileStamp {
  return {
    size: Number(stat.size),
    mode: Number(stat.mode) & 0o7777,
    mtime_ns: String(stat.mtimeNs),
    ctime_ns: String(stat.ctimeNs),
    ino: String(stat.ino),
  }
}

function kindAt(file: string): 'absent' | 'link' | 'special' | 'file' {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return 'absent'
  if (stat.isSymbolicLink()) return 'link'
  return stat.isFile() ? 'file' : 'special'
}

async function readAll(fd: number, expected: number) {
  // One byte more than expected shows a file that grew; it is then read on in larger pieces.
  let bytes = Buffer.allocUnsafe(expected + 1)
  let size = await readAt(fd, bytes, 0, 0)
  while (size === bytes.length) {
    bytes = Buffer.concat([bytes], size + chunkBytes)
    size += await readAt(fd, bytes, size, size)
  }
  bytes = bytes.subarray(0, size)
  return { bytes, size, sha256: sha256Of(bytes) }
}

async function hashAll(fd: number, expected: number) {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(Math.min(expected + 1, chunkBytes))
  let size = 0
  for (;;) {
    const count = await readAt(fd, chunk, 0, size)
    hash.update(chunk.subarray(0, count))
    size += count
    if (count < chunk.length) return { bytes: null, size, sha256: hash.digest('hex') }
  }
}
