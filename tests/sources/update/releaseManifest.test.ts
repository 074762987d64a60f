import { describe, expect, it } from 'vitest'
import { parseReleaseManifest, stringifyReleaseManifest } from '../../../sources/update/releaseManifest.ts'

const release = { version: '1.2.3-rc.1', target: 'x86_64-unknown-linux-gnu' }
const whole = { format: 1, product: 'cassady', ...release }

describe('the manifest of a release', () => {
  it('is read as it was written', () => {
    const text = stringifyReleaseManifest(release)
    expect(text).toBe(`${JSON.stringify(whole, null, 2)}\n`)
    expect(parseReleaseManifest(text, release)).toEqual(whole)
  })

  it('may have fields that are not known', () => {
    expect(parseReleaseManifest(JSON.stringify({ ...whole, later: true }), release)).toMatchObject(whole)
  })

  const cases: ReadonlyArray<readonly [string, unknown, string]> = [
    ['is missing', null, "has no 'release.json'"],
    ['is no JSON', 'release', 'of another kind'],
    ['is empty', '', 'of another kind'],
    ['is a list', '[]', 'of another kind'],
    ['is of a later format', { ...whole, format: 2 }, 'of another kind'],
    ['is of another product', { ...whole, product: 'cassady-desktop' }, 'of another kind'],
    ['names no product', { ...whole, product: undefined }, 'of another kind'],
    ['names no version', { ...whole, version: undefined }, 'of another kind'],
    ['has a version that is none', { ...whole, version: '1.2.3\u001b[2J' }, 'of another kind'],
    ['has a version with a tag', { ...whole, version: 'v1.2.3-rc.1' }, 'of another kind'],
    ['is of another version', { ...whole, version: '1.2.3' }, 'holds 1.2.3, not 1.2.3-rc.1'],
    ['is of a version that begins so', { ...whole, version: '1.2.3-rc.10' }, 'holds 1.2.3-rc.10'],
    ['is for another platform', { ...whole, target: 'aarch64-apple-darwin' }, 'is for aarch64-apple-darwin'],
  ]
  it.each(cases)('that %s makes the archive foreign', (_, value, says) => {
    const text = value === null || typeof value === 'string' ? value : JSON.stringify(value)
    expect(() => parseReleaseManifest(text, release)).toThrow(
      expect.objectContaining({ code: 'archive_foreign', message: expect.stringContaining(says) }),
    )
  })
})
