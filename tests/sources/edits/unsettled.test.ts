import { describe, expect, test } from 'vitest'
import { absentSide, type FileLook, lookAt, sha256Of, sideOf } from '../../../sources/edits/fileState.ts'
import { makeJournalLine } from '../../../sources/edits/journalLine.ts'
import { judgeLine, sideOfLook } from '../../../sources/edits/unsettled.ts'
import { makeFolder, newId, put, testTime } from './_place.ts'

const side = (text: string, mode = 0o644) =>
  sideOf({ sha256: sha256Of(Buffer.from(text)), size: text.length, mode }, true)
const line = makeJournalLine(
  { now: () => testTime, newId },
  { writer: 'w' },
  { type: 'edit', path: 'a', before: side('old'), after: side('new') },
)

describe('a line whose writer died', () => {
  test.each([
    ['taken back when the file is as before', side('old'), 'void'],
    ['kept when the file is as after', side('new'), 'stands'],
    ['a conflict when the file is something else', side('third'), 'unverified'],
    ['a conflict when only the mode differs', side('new', 0o755), 'unverified'],
    ['a conflict when the file is gone', absentSide, 'unverified'],
    ['a conflict when there is no regular file', null, 'unverified'],
  ])('is %s', (_, seen, verdict) => {
    expect(judgeLine(line, seen)).toBe(verdict)
  })

  test('of a new file is taken back when there is none', () => {
    expect(judgeLine({ ...line, before: absentSide }, absentSide)).toBe('void')
  })
})

describe('a look at a path', () => {
  test('gives bytes, hash, size and mode of a regular file', async () => {
    const file = put(makeFolder(), 'a', 'text', 0o640)
    const look = await lookAt(file, { keepBytes: true, maxBytes: null })
    expect(look).toMatchObject({ kind: 'file', sha256: sha256Of(Buffer.from('text')), size: 4, mode: 0o640 })
    expect(look.kind === 'file' && look.bytes?.toString()).toBe('text')
    expect(sideOfLook(look)).toEqual({ ...side('text', 0o640), bytes: false })
  })

  test('reads nothing of a file above the limit', async () => {
    const file = put(makeFolder(), 'a', '12345')
    expect(await lookAt(file, { keepBytes: true, maxBytes: 4 })).toMatchObject({ kind: 'oversized', size: 5 })
    expect(await lookAt(file, { keepBytes: true, maxBytes: 5 })).toMatchObject({ kind: 'file' })
  })

  test('behind a file is a look at nothing', async () => {
    const file = put(makeFolder(), 'a', '')
    const look: FileLook = await lookAt(`${file}/b`, { keepBytes: false, maxBytes: null })
    expect(look.kind).toBe('absent')
  })
})
