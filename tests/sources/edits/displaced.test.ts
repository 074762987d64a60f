import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { DisplacedFiles, ForeignBytes } from '../../../sources/edits/displaced.ts'
import { loadSwap } from '../../../sources/edits/exchange.ts'
import { absentSide, sha256Of, sideOf } from '../../../sources/edits/fileState.ts'
import type { JournalPlace } from '../../../sources/edits/journal.ts'
import { makeJournalLine } from '../../../sources/edits/journalLine.ts'
import { type PublishStep, publishFile } from '../../../sources/edits/publish.ts'
import { holdWhole } from '../../../sources/workspace/hold.ts'
import {
  isStored,
  makeDisplaced,
  makePlace,
  makeSink,
  newId,
  noWait,
  put,
  readLines,
  tempFiles,
  testTime,
  textOf,
  writeThrough,
} from './_place.ts'

const open: number[] = []

afterEach(() => {
  for (const fd of open.splice(0)) closeSync(fd)
})

/** Another program's descriptor. */
function openAs(flags: 'a' | 'r+' | 'w', file: string): number {
  const fd = openSync(file, flags)
  open.push(fd)
  return fd
}

/** A turn whose edits run `act` at the steps that it names. */
function turnIn(place: JournalPlace, withoutSwap = false, limit?: number) {
  const foreign: ForeignBytes[] = []
  const displaced = makeDisplaced(place, {
    onForeign: (bytes) => foreign.push(bytes),
    ...(limit === undefined ? {} : { limit }),
  })
  const edit = (file: string, text: string, acts: Partial<Record<PublishStep, () => void>> = {}) => {
    const onStep = (step: string) => {
      for (const [at, act] of Object.entries(acts)) if (at === step) act()
    }
    const hooks = { onStep, ...(withoutSwap ? { swap: null } : {}) }
    return writeThrough(makeSink(place, { hooks, displaced }), file, text)
  }
  return { displaced, foreign, edit }
}

const kept = (file: string, text: string): ForeignBytes => ({
  type: 'kept',
  path: file,
  sha256: sha256Of(Buffer.from(text)),
})

const types = (place: JournalPlace) => readLines(place).map(({ type }) => type)

describe.each([
  ['with exchange', false],
  ['without exchange', true],
])('what another program writes into a replaced file (%s)', (_, withoutSwap) => {
  test('by appending is stored, told in lines that lead back to the file, and told to the user', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old\n')
    const log = openAs('a', file)
    const { displaced, foreign, edit } = turnIn(place, withoutSwap)
    await edit(file, 'new\n')
    writeSync(log, 'foreign-tag\n')
    await displaced.settle()
    expect(textOf(file)).toBe('new\n')
    expect(isStored(place, 'old\nforeign-tag\n')).toBe(true)
    expect(foreign).toEqual([kept('f.txt', 'old\nforeign-tag\n')])
    const [line, there, back] = readLines(place)
    expect(types(place)).toEqual(['edit', 'outside', 'outside'])
    expect(there?.before).toEqual(line?.after)
    expect(there?.after).toMatchObject({ sha256: sha256Of(Buffer.from('old\nforeign-tag\n')), bytes: true })
    expect([back?.before, back?.after]).toEqual([there?.after, line?.after])
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('between two edits is stored before the second one is written down', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const other = path.join(place.workspace.root, 'other')
    const log = openAs('a', file)
    const { displaced, edit } = turnIn(place, withoutSwap)
    await edit(file, 'new')
    const sink = makeSink(place, { displaced })
    const observed = await sink.observe(other)
    writeSync(log, ' tag')
    await sink.publish({ realPath: other, observed, bytes: Buffer.from('x') })
    expect(types(place)).toEqual(['edit', 'outside', 'outside', 'edit'])
  })

  test('directly after the look is stored before the edit returns', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const log = openAs('a', file)
    const { foreign, edit } = turnIn(place, withoutSwap)
    await edit(file, 'new', { looked_at: () => writeSync(log, ' tag') })
    expect(foreign).toEqual([kept('f.txt', 'old tag')])
  })

  test('after cutting it before the look goes with it back to its name', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const saver = openAs('r+', file)
    const { displaced, foreign, edit } = turnIn(place, withoutSwap)
    const refused = edit(file, 'new', { exchanged: () => ftruncateSync(saver) })
    await expect(refused).rejects.toMatchObject({ code: 'file_changed' })
    writeSync(saver, 'saved', 0)
    await displaced.settle()
    expect(textOf(file)).toBe('saved')
    expect(foreign).toEqual([])
  })

  test('after cutting it behind the look is stored, and the empty file between is not', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const saver = openAs('r+', file)
    const { displaced, foreign, edit } = turnIn(place, withoutSwap)
    await edit(file, 'new', { looked_at: () => ftruncateSync(saver) })
    await displaced.look()
    expect([foreign, types(place)]).toEqual([[], ['edit']])
    writeSync(saver, 'saved', 0)
    await displaced.settle()
    expect(foreign).toEqual([kept('f.txt', 'saved')])
    expect(isStored(place, 'saved')).toBe(true)
  })

  test.each<[string, PublishStep]>([
    ['before', 'exchanged_back'],
    ['after', 'looked_at'],
  ])('into the new bytes is stored when those go again, cut %s the look', async (_title, cutAt) => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const { displaced, foreign, edit } = turnIn(place, withoutSwap)
    let saver = -1
    const refused = edit(file, 'new', {
      before_exchange: () => writeFileSync(file, 'theirs'),
      before_exchange_back: () => {
        saver = openAs('r+', file)
      },
      [cutAt]: () => ftruncateSync(saver),
    })
    await expect(refused).rejects.toMatchObject({ code: 'file_changed' })
    writeSync(saver, 'saved', 0)
    await displaced.settle()
    expect(textOf(file)).toBe('theirs')
    expect(isStored(place, 'saved')).toBe(true)
    expect(foreign).toContainEqual(kept('f.txt', 'saved'))
    expect(readLines(place).at(-1)?.after.sha256).toBe(sha256Of(Buffer.from('theirs')))
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('is stored, and told, when it went back and was saved over by who had read ours', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const { displaced, foreign, edit } = turnIn(place, withoutSwap)
    const refused = edit(file, 'new', {
      before_exchange: () => writeFileSync(file, 'theirs'),
      exchanged_back: () => writeFileSync(file, 'new, saved by them'),
    })
    await expect(refused).rejects.toMatchObject({ code: 'file_changed' })
    await displaced.settle()
    expect(isStored(place, 'theirs')).toBe(true)
    expect(foreign).toEqual([kept('f.txt', 'theirs')])
    expect(types(place)).toEqual(['edit', 'outside', 'void', 'outside'])
    expect(readLines(place).at(-1)?.after.sha256).toBe(sha256Of(Buffer.from(textOf(file))))
  })

  test('is stored when it went back and is still there, which is nothing to tell of', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const { displaced, foreign, edit } = turnIn(place, withoutSwap)
    const refused = edit(file, 'new', { before_exchange: () => writeFileSync(file, 'theirs') })
    await expect(refused).rejects.toMatchObject({ code: 'file_changed' })
    await displaced.settle()
    expect([textOf(file), isStored(place, 'theirs')]).toEqual(['theirs', true])
    expect([foreign, types(place)]).toEqual([[], ['edit', 'void']])
  })

  test('is stored when the file was deleted', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const log = openAs('a', file)
    const { displaced, foreign } = turnIn(place)
    await publishDirectly(place, displaced, { file, text: null, withoutSwap })
    writeSync(log, ' tag')
    await displaced.settle()
    expect(existsSync(file)).toBe(false)
    expect(isStored(place, 'old tag')).toBe(true)
    expect(foreign).toEqual([kept('f.txt', 'old tag')])
  })

  test('is nothing to tell of when it writes nothing, or only what was or is there', async () => {
    const place = makePlace()
    const { root } = place.workspace
    const { displaced, foreign, edit } = turnIn(place, withoutSwap)
    openAs('a', put(root, 'untouched', 'old'))
    const same = openAs('r+', put(root, 'same', 'old'))
    const empty = openAs('r+', put(root, 'empty', 'old'))
    for (const name of ['untouched', 'same', 'empty']) await edit(path.join(root, name), 'new')
    const ahead = openAs('r+', put(root, 'ahead', 'old'))
    for (const text of ['new', 'newer']) await edit(path.join(root, 'ahead'), text)
    writeSync(same, 'old', 0)
    writeSync(ahead, 'newer', 0)
    ftruncateSync(empty)
    await displaced.look()
    await displaced.settle()
    expect(new Set(types(place))).toEqual(new Set(['edit']))
    expect(foreign).toEqual([])
  })
})

test('a file that is replaced by a copy, for want of hard links, is looked at itself', async () => {
  const place = makePlace()
  const file = put(place.workspace.root, 'f.txt', 'old')
  const log = openAs('a', file)
  const { displaced, foreign } = turnIn(place)
  const lineId = newId()
  // Any failure of the link leads there; a taken name is one that a test can bring about.
  const taken = put(place.workspace.root, `.cass-${lineId}.old`, 'taken')
  await publishDirectly(place, displaced, { file, text: 'new', withoutSwap: true, lineId })
  writeSync(log, ' tag')
  await displaced.settle()
  expect([textOf(file), textOf(taken)]).toEqual(['new', 'taken'])
  expect(isStored(place, 'old tag')).toBe(true)
  expect(foreign).toEqual([kept('f.txt', 'old tag')])
})

test.runIf(spawnSync('python3', ['--version']).status === 0)(
  'a program that writes through a mapped page, which changes no time at once, is seen at the end',
  async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old text')
    const { displaced, foreign, edit } = turnIn(place)
    const mapper = spawn('python3', ['-c', writeMapped, file])
    await once(mapper.stdout, 'data')
    await edit(file, 'new')
    mapper.stdin.write('\n')
    await once(mapper.stdout, 'data')
    await displaced.settle()
    mapper.stdin.end()
    await once(mapper, 'exit')
    expect(foreign).toEqual([kept('f.txt', 'old TAG!')])
  },
)

/** The page is made dirty first: only the first write to a clean one changes the file's time. */
const writeMapped = `
import mmap, sys
with open(sys.argv[1], 'r+b') as file:
    page = mmap.mmap(file.fileno(), 0)
    page[0:1] = b'o'
    print('ready', flush=True)
    sys.stdin.readline()
    page[4:8] = b'TAG!'
    print('written', flush=True)
    sys.stdin.readline()
`

describe('the files that stay open', () => {
  test('are as many as the limit says, the oldest looked at a last time and closed', async () => {
    const place = makePlace()
    const before = openDescriptors()
    const { displaced, foreign, edit } = turnIn(place, false, 3)
    const logs: number[] = []
    const names = Array.from({ length: 8 }, (_, at) => `f${at}`)
    for (const name of names) {
      const file = put(place.workspace.root, name, 'old')
      logs.push(openAs('a', file))
      await edit(file, 'new')
      expect(displaced.count).toBeLessThanOrEqual(3)
    }
    expect(displaced.count).toBe(3)
    for (const [at, log] of logs.entries()) writeSync(log, ` tag ${at}`)
    await displaced.settle()
    expect(foreign).toEqual([5, 6, 7].map((at) => kept(`f${at}`, `old tag ${at}`)))
    expect(displaced.count).toBe(0)
    expect(openDescriptors()).toBe(before === null ? null : before + logs.length)
  })

  test('are closed after one look when an edit ends later than its turn', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'f.txt', 'old')
    const log = openAs('a', file)
    const { displaced, foreign, edit } = turnIn(place)
    await displaced.settle()
    await edit(file, 'new', { looked_at: () => writeSync(log, ' tag') })
    expect(foreign).toEqual([kept('f.txt', 'old tag')])
    expect(displaced.count).toBe(0)
  })
})

describe('foreign bytes that cannot be stored', () => {
  test('are stored by a later look', async () => {
    const { place, displaced, foreign, breakStore, mendStore } = await withTagInReplacedFile()
    breakStore()
    await displaced.look()
    expect(foreign).toEqual([])
    mendStore()
    await displaced.settle()
    expect(foreign).toEqual([kept('f.txt', 'old tag')])
    expect(isStored(place, 'old tag')).toBe(true)
  })

  test('are told to the user at the end', async () => {
    const { displaced, foreign, breakStore } = await withTagInReplacedFile()
    breakStore()
    await displaced.settle()
    expect(foreign).toEqual([{ type: 'lost', path: 'f.txt', reason: expect.any(String) }])
  })
})

test('bytes that came while another process holds the workspace wait for it', async () => {
  const { place, displaced, foreign } = await withTagInReplacedFile()
  const hold = await holdWhole({ home: place.home, key: place.workspace.key }, noWait)
  const looking = displaced.look()
  await hold.release()
  await looking
  expect(foreign).toEqual([kept('f.txt', 'old tag')])
})

test('a program that saves in place beside many edits loses nothing that it wrote', async () => {
  const place = makePlace()
  const { root } = place.workspace
  const file = put(root, 'f.txt', '')
  const { displaced, edit } = turnIn(place)
  const saver = spawn(process.execPath, ['-e', saveInPlace, file, '300'], { stdio: 'ignore' })
  const ended = once(saver, 'exit')
  let edits = 0
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  while (!isOver) {
    edits += 1
    const text = textOf(file).replace(/^(edit \d+\n)?/, `edit ${edits}\n`)
    await edit(file, text).catch((error: unknown) => expect(error).toMatchObject({ code: 'file_changed' }))
  }
  expect(await ended).toEqual([0, null])
  await displaced.settle()
  const everything = [textOf(file), ...storedTexts(place)].join('\n')
  const missing = Array.from({ length: 300 }, (_, at) => `<tag ${at}>`).filter(
    (tag) => !everything.includes(tag),
  )
  expect(missing).toEqual([])
  expect(edits).toBeGreaterThan(1)
  expect(tempFiles(root)).toEqual([])
})

/** Each save holds all that the file held and one tag more. */
const saveInPlace = `
  const fs = require('node:fs')
  const [, file, count] = process.argv
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let at = 0; at < Number(count); at += 1) {
    const text = fs.readFileSync(file, 'utf8')
    const fd = fs.openSync(file, 'w')
    Atomics.wait(cell, 0, 0, at % 3)
    fs.writeSync(fd, text + '<tag ' + at + '>\\n')
    fs.closeSync(fd)
    Atomics.wait(cell, 0, 0, 2)
  }`

async function withTagInReplacedFile() {
  const place = makePlace()
  const file = put(place.workspace.root, 'f.txt', 'old')
  const log = openAs('a', file)
  const { displaced, foreign, edit } = turnIn(place)
  await edit(file, 'new')
  writeSync(log, ' tag')
  const store = path.join(place.home, 'file-snapshots', 'objects')
  const breakStore = () => {
    renameSync(store, `${store}-aside`)
    writeFileSync(store, 'a file where a folder should be')
  }
  const mendStore = () => renameOver(`${store}-aside`, store)
  return { place, displaced, foreign, breakStore, mendStore }
}

function renameOver(from: string, to: string): void {
  renameSync(to, `${to}-broken`)
  renameSync(from, to)
}

/** Publishes without a sink: what restoring does, and no tool can. */
async function publishDirectly(
  place: JournalPlace,
  displaced: DisplacedFiles,
  {
    file,
    text,
    withoutSwap,
    lineId = newId(),
  }: { file: string; text: string | null; withoutSwap: boolean; lineId?: string },
): Promise<void> {
  mkdirSync(path.join(place.home, 'file-snapshots'), { recursive: true })
  const side = (content: string) =>
    sideOf({ sha256: sha256Of(Buffer.from(content)), size: content.length, mode: 0o644 }, true)
  const content = {
    ...{ type: 'restore' as const, path: 'f.txt' },
    ...{ before: side('old'), after: text === null ? absentSide : side(text) },
  }
  const line = makeJournalLine({ now: () => testTime, newId: () => lineId }, { writer: 'w1' }, content)
  await publishFile({
    ...{ realPath: file, lineId, before: line.before },
    after: text === null ? null : { bytes: Buffer.from(text), side: line.after, mode: 0o644 },
    keepForeign: async () => {},
    onReturned: () => {},
    keepOpen: (nameless) => displaced.keep(line, nameless),
    swap: withoutSwap ? null : await loadSwap(),
  })
}

function storedTexts(place: JournalPlace): string[] {
  const objects = path.join(place.home, 'file-snapshots', 'objects')
  return readdirSync(objects, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
}

/** Null where the system does not tell. */
function openDescriptors(): number | null {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : null
}
