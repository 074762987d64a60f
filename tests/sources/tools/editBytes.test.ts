import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EditSink } from '../../../sources/edits/editSink.ts'
import { edit } from '../../../sources/tools/edit.ts'
import { makeContext, makePlace } from './_context.ts'

/** Files in memory, for many small edits. */
function makeMemory(bytes: Buffer): { sink: EditSink; read: () => Buffer } {
  let now = bytes
  return {
    read: () => now,
    sink: {
      observe: async () => ({ exists: true, bytes: now, sha256: 'x', mode: 0o644 }),
      publish: async (change) => {
        now = change.bytes
      },
    },
  }
}

const mark = fc.constantFrom('none', 'utf8', 'utf16le', 'utf16be')
// No NUL, which would make a file binary, and no `x`, which marks the place of the edit.
const narrow = fc
  .uint8Array({ min: 1, maxLength: 60 })
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x78)))
const units = fc.array(fc.integer({ min: 1, max: 0xffff }), { maxLength: 30 })

it('changes exactly the bytes of the edit in any bytes of any encoding', async () => {
  const place = makePlace()
  const wide = units.map((codes) =>
    codes
      .filter((code) => code !== 0x78)
      .map((code) => String.fromCharCode(code))
      .join(''),
  )
  await fc.assert(
    fc.asyncProperty(mark, narrow, narrow, wide, wide, async (kind, left, right, leftText, rightText) => {
      const encode = (text: string) => {
        const bytes = Buffer.from(text, 'utf16le')
        return kind === 'utf16be' ? bytes.swap16() : bytes
      }
      const isWide = kind === 'utf16le' || kind === 'utf16be'
      const head = kind === 'utf8' ? Buffer.from('\ufeff') : isWide ? encode('\ufeff') : Buffer.alloc(0)
      // Kept from being taken for a byte order mark.
      const before = isWide ? encode(leftText) : Buffer.concat([Buffer.from('#'), left])
      const after = isWide ? encode(rightText) : right
      const build = (middle: string) =>
        Buffer.concat([head, before, isWide ? encode(middle) : Buffer.from(middle), after])
      const { sink, read } = makeMemory(build('x'))
      const context = makeContext(place, { mode: 'full-access', edits: sink })
      const outcome = await edit.run({ path: 'a', edits: [{ old_text: 'x', new_text: 'y z' }] }, context)
      expect(outcome.ok).toBe(true)
      expect(read()).toEqual(build('y z'))
    }),
    { numRuns: 500 },
  )
})
