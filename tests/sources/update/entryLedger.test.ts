import { describe, expect, it } from 'vitest'
import { type ArchiveEntry, EntryLedger } from '../../../sources/update/entryLedger.ts'

const limits = { maxBytes: 10_000_000, maxEntries: 5, maxRatio: 10 }
const file = (name: string, bytes = 1): ArchiveEntry => ({ type: 'file', name, bytes, executable: false })
const folder = (name: string): ArchiveEntry => ({ type: 'folder', name })

function ledgerOf(entries: ReadonlyArray<ArchiveEntry>, size = 100) {
  const ledger = new EntryLedger({ archive: 'a.zip', size, limits })
  for (const entry of entries) ledger.add(entry)
  return ledger
}

describe('the entries of an archive', () => {
  it('include the folders that only a path names, before what is in them', () => {
    expect(ledgerOf([file('a/b/c'), file('a/d')]).entries).toEqual([
      folder('a'),
      folder('a/b'),
      file('a/b/c'),
      file('a/d'),
    ])
  })

  it('may name a folder after what is in it, once', () => {
    expect(ledgerOf([file('a/b'), folder('a')]).entries).toEqual([folder('a'), file('a/b')])
    expect(() => ledgerOf([file('a/b'), folder('a'), folder('a')])).toThrow("'a' takes the place of 'a'")
  })

  it.each([
    [[file('a'), file('a')]],
    [[file('a'), folder('a')]],
    [[folder('a'), file('a')]],
    [[file('a/b'), file('a')]],
    [[file('a'), file('a/b')]],
    [[file('a/x'), file('A/y')]],
    [[file('straße'), file('STRASSE')]],
    [[file('ﬁle'), file('file')]],
    [[file('K'), file('\u212a')]],
    [[file('h'), file('\u210c')]],
    [[file('\u0390'), file('\u03aa\u0301')]],
  ])('have one place each: %j', (entries) => {
    expect(() => ledgerOf(entries)).toThrow('takes the place of')
  })

  it('are not too many, in folders that are named or not', () => {
    const five = ['a', 'b', 'c', 'd', 'e/f/g'].map((name) => file(name))
    expect(ledgerOf(five).entries).toHaveLength(7)
    expect(() => ledgerOf([...five, file('h')])).toThrow('more than 5 entries')
  })

  it('do not claim more than the ratio, nor more than the limit', () => {
    expect(ledgerOf([file('a', 600_000), file('b', 448_576)]).allowedBytes).toBe(1_048_576)
    expect(() => ledgerOf([file('a', 600_000), file('b', 448_577)])).toThrow(
      "'b' brings it to more than 1048576",
    )
    expect(ledgerOf([file('a', 2_000_000)], 200_000).allowedBytes).toBe(2_000_000)
    expect(() => ledgerOf([file('a', 2_000_001)], 200_000)).toThrow('more than 2000000')
    expect(() => ledgerOf([file('a', 10_000_001)], 9_000_000)).toThrow('more than 10000000')
    expect(() => ledgerOf([], 10_000_001)).toThrow('it is too large')
  })
})
