import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { errnoOf } from '../errors.ts'

/** The code of the error for a pipe, a device or a socket in the place of a file. */
const notAFile = 'ENOTFILE'
/** What the system says for a socket, a pipe without a reader, or a device without hardware. */
const refusedKinds: ReadonlySet<string> = new Set(['ENXIO', 'ENODEV', 'EOPNOTSUPP'])

/**
 * Opens a file and nothing else: opening a pipe would wait for its other end, for ever and deaf to signals, and a device need
 * not end. Throws the system's error; EISDIR for a folder, also to read; ENOTFILE for anything else. A file that is opened to
 * be written is made its owner's only (0600), whatever the umask took away or left.
 */
export function openRegular(file: string, flags: number): number {
  let fd: number
  try {
    fd = openSync(file, flags | (constants.O_NONBLOCK ?? 0), 0o600)
  } catch (error) {
    throw refusedKinds.has(errnoOf(error) ?? '') ? makeError(notAFile, 'not a file', file) : error
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw makeKindError(stats, file)
    if ((flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0) makePrivate(fd, stats.mode)
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** The bytes of a file, and of nothing else. Throws what `openRegular` throws. */
export function readRegular(file: string): Buffer {
  const fd = openRegular(file, constants.O_RDONLY)
  try {
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** What an error of the file system says about a path, for a message: `cannot read '…': it is a folder`. */
export function reasonOf(error: unknown): string {
  const errno = errnoOf(error)
  if (errno === 'EISDIR') return 'it is a folder'
  return errno === notAFile ? 'it is not a file' : (errno ?? String(error))
}

/** Whether something other than a file stands there. */
export function isOtherKind(error: unknown): boolean {
  const errno = errnoOf(error)
  return errno === 'EISDIR' || errno === notAFile
}

function makePrivate(fd: number, mode: number): void {
  if (process.platform === 'win32' || (mode & 0o777) === 0o600) return
  try {
    fchmodSync(fd, 0o600)
  } catch (error) {
    // It can be written all the same, and whoever owns it decides who else may.
    if (errnoOf(error) !== 'EPERM') throw error
  }
}

/** The error for what is no file. */
export function makeKindError(stats: Stats, file: string): Error {
  if (stats.isDirectory()) return makeError('EISDIR', 'illegal operation on a directory', file)
  return makeError(notAFile, 'not a file', file)
}

// In the words of Node, as all other errors of the system.
function makeError(code: string, words: string, file: string): Error {
  return Object.assign(new Error(`${code}: ${words}, open '${file}'`), { code, path: file })
}
