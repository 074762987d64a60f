import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseChecksumFile } from '../../../sources/update/checksum.ts'
import { verifyChecksum } from '../../../sources/update/verifyChecksum.ts'
import { sandbox } from './_sandbox.ts'

const digest = createHash('sha256').update('release').digest('hex')
const name = 'cassady-v1.2.3-x86_64-unknown-linux-gnu.tar.gz'

describe('a checksum file', () => {
  it.each([
    ['as sha256sum writes it', `${digest}  ${name}\n`],
    ['of binary mode', `${digest} *${name}\n`],
    ['without an end of line', `${digest}  ${name}`],
    ['with capitals, blank lines and CR LF', `\r\n  \r\n${digest.toUpperCase()}  ${name}\r\n`],
    ['with more lines', `${digest}  ${name}\n${'0'.repeat(64)}  other\n`],
  ])('%s gives the digest', (_, text) => {
    expect(parseChecksumFile(text, name)).toBe(digest)
  })

  it.each([
    ['that is empty', '\n \n', 'does not begin with a digest'],
    ['with a digest only', digest, 'does not begin with a digest'],
    ['with a short digest', `${digest.slice(1)}  ${name}`, 'does not begin with a digest'],
    ['with a long digest', `${digest}0  ${name}`, 'does not begin with a digest'],
    ['with one space', `${digest} ${name}`, 'does not begin with a digest'],
    ['that is a web page', '<!doctype html>', 'does not begin with a digest'],
    ['with the right line second', `other\n${digest}  ${name}`, 'does not begin with a digest'],
    ['of another archive', `${digest}  other.tar.gz`, 'is about another file'],
    ['of another archive first', `${digest}  other\n${digest}  ${name}`, 'is about another file'],
    ['of a path', `${digest}  ./${name}`, 'is about another file'],
    ['of a name that goes on', `${digest}  ${name} x`, 'is about another file'],
  ])('%s is malformed', (_, text, says) => {
    expect(() => parseChecksumFile(text, name)).toThrow(
      expect.objectContaining({ code: 'checksum_malformed', message: expect.stringContaining(says) }),
    )
  })
})

describe('a file', () => {
  it('with the digest is taken', async () => {
    const file = join(sandbox.root, name)
    writeFileSync(file, 'release')
    await expect(verifyChecksum({ file, digest })).resolves.toBeUndefined()
  })

  it('of many chunks is hashed whole', async () => {
    const file = join(sandbox.root, name)
    const content = Buffer.alloc(1_000_000, 'abc')
    writeFileSync(file, content)
    const whole = createHash('sha256').update(content).digest('hex')
    await expect(verifyChecksum({ file, digest: whole })).resolves.toBeUndefined()
  })

  it('that differs is not', async () => {
    const file = join(sandbox.root, name)
    writeFileSync(file, 'releasE')
    await expect(verifyChecksum({ file, digest })).rejects.toMatchObject({
      code: 'checksum_mismatch',
      message: `'${name}' is not what its checksum says`,
      data: { expected: digest },
    })
  })

  it('that is missing is told as such', async () => {
    const file = join(sandbox.root, 'none')
    await expect(verifyChecksum({ file, digest })).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
