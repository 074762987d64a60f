import { CassError } from '../errors.ts'

const hint = 'download the release again, and report it when that is refused too'

/** What an archive must not hold. `entry` is null when the fault is of the archive as a whole. */
export function makeUnsafeError(archive: string, entry: string | null, reason: string): CassError {
  const what = entry === null ? 'it' : `its entry '${showName(entry)}'`
  return new CassError('archive_unsafe', `refused to unpack '${showName(archive)}': ${what} ${reason}`, {
    hint,
    data: { archive, entry, reason },
  })
}

/** An archive that cannot be read to its end, or that is none. */
export function makeDamagedError(
  archive: string,
  entry: string | null,
  { reason, cause }: { readonly reason: string; readonly cause?: unknown },
): CassError {
  const what = entry === null ? 'it' : `its entry '${showName(entry)}'`
  return new CassError('archive_damaged', `cannot unpack '${showName(archive)}': ${what} ${reason}`, {
    hint,
    cause,
    data: { archive, entry, reason },
  })
}

/** Names of a stranger go to a terminal: nothing in them may steer it, or fill the screen. */
function showName(name: string): string {
  const shown = name.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
  return shown.length <= 120 ? shown : `${shown.slice(0, 80)}…${shown.slice(-39)}`
}
