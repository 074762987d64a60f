import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { absentSide, sha256Of } from '../../../sources/edits/fileState.ts'
import { Journal, type JournalPlace } from '../../../sources/edits/journal.ts'
import { makeJournalLine } from '../../../sources/edits/journalLine.ts'
import { observeTracked } from '../../../sources/edits/observe.ts'
import { holdWhole } from '../../../sources/workspace/hold.ts'
import { workspaceFolder } from '../../../sources/workspace/root.ts'
import {
  isStored,
  makePlace,
  makeSink,
  newId,
  noWait,
  put,
  readLines,
  textOf,
  writeThrough,
} from './_place.ts'

/** Far enough ahead that every file counts as not just written. */
const later = new Date(Date.now() + 3_600_000)

async function observe(
  place: JournalPlace,
  changes: { held?: boolean; maxFileBytes?: number; family?: string; now?: Date; dead?: string } = {},
) {
  return observeTracked({
    isWriterAlive: async (writer) => writer !== changes.dead,
    isMessageInLog: async () => false,
    journal: new Journal(place),
    family: new Set([changes.family ?? 'conv']),
    attribution: { writer: 'w1', chat_id: 'chat', conversation: 'conv', turn: 't2' },
    maxFileBytes: changes.maxFileBytes ?? 1 << 20,
    wait: changes.held ? null : noWait,
    now: () => changes.now ?? later,
    newId,
  })
}

async function edited(text = 'ours'): Promise<{ place: JournalPlace; file: string }> {
  const place = makePlace()
  const file = put(place.workspace.root, 'src/a', 'old')
  await writeThrough(makeSink(place), file, text)
  return { place, file }
}

describe('a tracked file', () => {
  test('whose last line was never published, by a process that died, is as it was left', async () => {
    const { place } = await edited()
    const journal = new Journal(place)
    await journal.refresh()
    const before = journal.lastChange('src/a')?.after ?? absentSide
    const after = { ...before, sha256: sha256Of(Buffer.from('never there')) }
    const by = { writer: 'dead', conversation: 'conv', message_id: 'never-saved' }
    const line = makeJournalLine({ now: () => later, newId }, by, {
      type: 'edit',
      path: 'src/a',
      before,
      after,
    })
    await journal.append([line])
    expect(await observe(place, { dead: 'dead' })).toEqual([])
    expect((await readLines(place)).map(({ type }) => type)).toEqual(['edit', 'edit', 'void'])
  })

  test('that is as it was left adds no line', async () => {
    const { place } = await edited()
    expect(await observe(place)).toEqual([])
    expect(await observe(place)).toEqual([])
    expect(readLines(place)).toHaveLength(1)
  })

  test('that someone changed is told once, with its bytes stored', async () => {
    const { place, file } = await edited()
    writeFileSync(file, 'by hand')
    const lines = await observe(place)
    expect(lines).toMatchObject([
      {
        type: 'outside',
        path: 'src/a',
        turn: 't2',
        after: { sha256: sha256Of(Buffer.from('by hand')), bytes: true },
      },
    ])
    expect(lines[0]?.before).toEqual(readLines(place)[0]?.after)
    expect(isStored(place, 'by hand')).toBe(true)
    expect(await observe(place)).toEqual([])
  })

  test.each<[string, (file: string) => void, object]>([
    ['deleted', (file) => unlinkSync(file), { type: 'outside', after: { exists: false, bytes: false } }],
    ['given another mode', (file) => chmodSync(file, 0o755), { type: 'outside', after: { mode: '755' } }],
    [
      'replaced by a link',
      (file) => {
        unlinkSync(file)
        symlinkSync('elsewhere', file)
      },
      { type: 'gap', reason: 'symlink' },
    ],
    [
      'replaced by a folder',
      (file) => {
        unlinkSync(file)
        mkdirSync(file)
      },
      { type: 'gap', reason: 'special' },
    ],
    [
      'moved away with its folder',
      (file) => {
        renameSync(path.dirname(file), `${path.dirname(file)}2`)
      },
      { type: 'outside', after: { exists: false, bytes: false } },
    ],
  ])('that was %s is told once', async (_, act, expected) => {
    const { place, file } = await edited()
    act(file)
    expect(await observe(place)).toMatchObject([expected])
    expect(await observe(place)).toEqual([])
  })

  test('that is too large to keep is told with its hash and a gap', async () => {
    const { place, file } = await edited()
    writeFileSync(file, 'x'.repeat(101))
    expect(await observe(place, { maxFileBytes: 100 })).toMatchObject([
      { type: 'gap', reason: 'oversized' },
      { type: 'outside', after: { size: 101, bytes: false, sha256: sha256Of(Buffer.from('x'.repeat(101))) } },
    ])
    expect(await observe(place, { maxFileBytes: 100 })).toEqual([])
  })

  test('whose bytes cannot be stored is told with its hash and a gap', async () => {
    const { place, file } = await edited()
    writeFileSync(file, 'by hand')
    const sha256 = sha256Of(Buffer.from('by hand'))
    const folder = path.join(place.home, 'file-snapshots/objects', sha256.slice(0, 2))
    if (!existsSync(folder)) writeFileSync(folder, 'a file where a folder should be')
    expect(await observe(place)).toMatchObject([
      { type: 'gap', reason: 'capture_failed' },
      { after: { sha256, bytes: false } },
    ])
  })

  test('of another family is not looked at', async () => {
    const { place, file } = await edited()
    writeFileSync(file, 'by hand')
    expect(await observe(place, { family: 'other' })).toEqual([])
  })

  test('is looked at by who holds the whole workspace', async () => {
    const { place, file } = await edited()
    writeFileSync(file, 'by hand')
    const lock = await holdWhole({ home: place.home, key: place.workspace.key }, noWait)
    expect(await observe(place, { held: true })).toHaveLength(1)
    await lock.release()
  })
})

describe('what was seen last', () => {
  const seenFile = (place: JournalPlace) =>
    path.join(workspaceFolder(place.home, place.workspace.key), 'seen.json')

  test('is remembered only when the file has been quiet, since its times could hide the next change', async () => {
    const { place, file } = await edited()
    await observe(place, { now: statSync(file).mtime })
    expect(existsSync(seenFile(place))).toBe(false)
    await observe(place)
    expect(JSON.parse(textOf(seenFile(place)))['src/a']).toMatchObject({
      sha256: sha256Of(Buffer.from('ours')),
    })
  })

  test('does not hide a change that kept size and modification time', async () => {
    const { place, file } = await edited()
    await observe(place)
    const { atime, mtime } = statSync(file)
    writeFileSync(file, 'OURS')
    utimesSync(file, atime, mtime)
    expect(await observe(place)).toMatchObject([{ type: 'outside' }])
  })

  test('is made again when it is damaged or missing', async () => {
    const { place, file } = await edited()
    writeFileSync(seenFile(place), '{"src/a": 5')
    expect(await observe(place)).toEqual([])
    writeFileSync(seenFile(place), '{"src/a": {"size": "x"}}')
    writeFileSync(file, 'by hand')
    expect(await observe(place)).toHaveLength(1)
  })
})
