import { constants } from 'node:fs'
import { CassError } from '../errors.ts'
import { isOtherKind, openRegular, reasonOf } from './openRegular.ts'

/** Opens the file of a lock, made if it is missing. Throws `lock_unusable` when something else has its name. */
export function openLock(file: string): number {
  try {
    return openRegular(file, constants.O_RDWR | constants.O_CREAT)
  } catch (error) {
    if (!isOtherKind(error)) throw error
    throw new CassError('lock_unusable', `cannot use '${file}' as a lock: ${reasonOf(error)}`, {
      cause: error,
      hint: 'move it away: the file is made again when it is needed',
    })
  }
}
