import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { absentSide, sha256Of, sideOf } from '../../../sources/edits/fileState.ts'
import { Journal, type JournalPlace, journalFile, journalSize } from '../../../sources/edits/journal.ts'
import {
  type JournalLine,
  makeJournalLine,
  makeVoidLine,
  stringifyJournalLine,
} from '../../../sources/edits/journalLine.ts'
import { makePlace, modeOf, newId, put, readLines, testTime } from './_place.ts'

const source = { now: () => testTime, newId }

function edit(file: string, conversation = 'conv'): JournalLine {
  const after = sideOf({ sha256: sha256Of(Buffer.from(file)), size: 1, mode: 0o644 }, true)
  return makeJournalLine(
    source,
    { writer: 'w', conversation },
    { type: 'edit', path: file, before: absentSide, after },
  )
}

async function reread(place: JournalPlace): Promise<Journal> {
  const journal = new Journal(place)
  await journal.refresh()
  return journal
}

describe('an append', () => {
  test('gives the size that messages mark, in a private file with a description of the workspace', async () => {
    const place = makePlace()
    expect(journalSize(place)).toBe(0)
    const size = await new Journal(place).append([edit('a'), edit('b')])
    expect(size).toBe(journalSize(place))
    expect((await reread(place)).lines.map(({ end }) => end)).toEqual([expect.any(Number), size - 1])
    expect(modeOf(journalFile(place))).toBe(0o600)
    expect(modeOf(path.dirname(journalFile(place)))).toBe(0o700)
    const about = JSON.parse(readFileSync(path.join(path.dirname(journalFile(place)), 'about.json'), 'utf8'))
    expect(about.root).toBe(place.workspace.root)
  })

  test('behind a torn line starts a line of its own', async () => {
    const place = makePlace()
    const journal = new Journal(place)
    await journal.append([edit('a')])
    appendFileSync(journalFile(place), '{"v":1,"id":"torn')
    await journal.append([edit('b')])
    const { lines, holes } = await reread(place)
    expect(lines.map(({ line }) => line.path)).toEqual(['a', 'b'])
    expect(holes).toMatchObject([{ reason: 'not_json' }])
  })

  test('behind a line without its line break keeps that line', async () => {
    const place = makePlace()
    mkdirSync(path.dirname(journalFile(place)), { recursive: true })
    writeFileSync(journalFile(place), stringifyJournalLine(edit('a')))
    const journal = await reread(place)
    expect(journal.lines.map(({ end }) => end)).toEqual([journalSize(place)])
    await journal.append([edit('b')])
    await journal.refresh()
    expect(journal.lines.map(({ line }) => line.path)).toEqual(['a', 'b'])
    expect(journal.holes).toEqual([])
  })

  test('tightens a journal that others could read', async () => {
    const place = makePlace()
    const journal = new Journal(place)
    await journal.append([edit('a')])
    chmodSync(journalFile(place), 0o644)
    await journal.append([edit('b')])
    expect(modeOf(journalFile(place))).toBe(0o600)
  })

  test('says which file cannot be written', async () => {
    const place = makePlace()
    put(place.home, 'workspaces', 'a file where a folder should be')
    await expect(new Journal(place).append([edit('a')])).rejects.toMatchObject({
      code: 'journal_unwritable',
      message: expect.stringContaining(journalFile(place)),
    })
  })

  test('by many at once leaves every line whole', async () => {
    const place = makePlace()
    const journals = Array.from({ length: 4 }, () => new Journal(place))
    await Promise.all(
      journals.flatMap((journal, at) => [0, 1, 2, 3, 4].map((n) => journal.append([edit(`${at}-${n}`)]))),
    )
    expect(new Set(readLines(place).map((line) => line.path)).size).toBe(20)
  })
})

describe('a journal in memory', () => {
  test('takes in what others appended, each line once', async () => {
    const place = makePlace()
    const mine = await reread(place)
    const theirs = new Journal(place)
    await theirs.append([edit('a')])
    await Promise.all([mine.refresh(), mine.refresh()])
    await theirs.append([edit('b')])
    await mine.refresh()
    expect(mine.lines.map(({ line }) => line.path)).toEqual(['a', 'b'])
  })

  test('knows the last change of a path that came to pass, and whose paths they are', async () => {
    const place = makePlace()
    const [first, second, other] = [edit('a'), edit('a'), edit('b', 'other')]
    const never = edit('c')
    const journal = new Journal(place)
    await journal.append([
      first,
      second,
      other,
      never,
      makeVoidLine(source, 'w', second),
      makeVoidLine(source, 'w', never),
    ])
    await journal.refresh()
    expect(journal.lastChange('a')).toEqual(first)
    expect(journal.lastChange('c')).toBeNull()
    expect(journal.isVoided(second.id)).toBe(true)
    expect(journal.trackedPaths(new Set(['conv']))).toEqual(['a'])
    expect(journal.trackedPaths(new Set(['conv', 'other']))).toEqual(['a', 'b'])
  })
})
