import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CassError } from '../errors.ts'

/** Throws `checksum_mismatch` unless the file has that digest (64 lower-case digits). Reads it piece by piece. */
export async function verifyChecksum({
  file,
  digest,
}: {
  readonly file: string
  readonly digest: string
}): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  const found = hash.digest('hex')
  if (found === digest) return
  throw new CassError('checksum_mismatch', `'${path.basename(file)}' is not what its checksum says`, {
    hint: 'download the release again, and report it when it does not match again',
    data: { expected: digest, found },
  })
}
