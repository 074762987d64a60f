import { CassError } from '../errors.ts'

/** Digest and name as a `.sha256` file has them, the way that `sha256sum` writes it. */
const checksumLine = /^([0-9a-f]{64}) [ *](\S.*)$/i

/**
 * The digest (64 lower-case digits) that a release's `.sha256` file gives for the archive of that name. Only the first
 * line that is not blank counts, and it must be about that archive. Throws `checksum_malformed`.
 */
export function parseChecksumFile(text: string, archive: string): string {
  const line = text.split(/\r?\n/).find((each) => each.trim() !== '')
  const [, digest, name] = checksumLine.exec(line?.trimEnd() ?? '') ?? []
  if (digest !== undefined && name === archive) return digest.toLowerCase()
  const fault = digest === undefined ? 'does not begin with a digest and a name' : 'is about another file'
  throw new CassError('checksum_malformed', `the checksum file of '${archive}' ${fault}`, {
    hint: 'download the release again, or report it',
  })
}
