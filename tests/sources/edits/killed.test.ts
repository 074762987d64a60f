import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DisplacedFiles } from '../../../sources/edits/displaced.ts'
import { sha256Of } from '../../../sources/edits/fileState.ts'
import { Journal, type JournalPlace } from '../../../sources/edits/journal.ts'
import { settleLines } from '../../../sources/edits/unsettled.ts'
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
import type { WorkerTask } from './_worker.ts'
import { buildWorker, runWorker } from './_workers.ts'

let folder = ''
let script = ''

beforeAll(async () => {
  folder = realpathSync.native(mkdtempSync(path.join(os.tmpdir(), 'cass-worker-')))
  script = await buildWorker(folder)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function task(place: JournalPlace, file: string, changes: Partial<WorkerTask>): WorkerTask {
  const { home, workspace } = place
  const none = { texts: ['new'], killAt: null, foreign: null, withoutSwap: false }
  return { home, root: workspace.root, file, writer: 'dead', ...none, ...changes }
}

async function settle(
  place: JournalPlace,
  {
    turn = null,
    inLog = '',
    displaced,
  }: { turn?: string | null; inLog?: string; displaced?: DisplacedFiles } = {},
) {
  return settleLines({
    journal: new Journal(place),
    writer: 'w2',
    turn,
    path: null,
    wait: noWait,
    isWriterAlive: async (writer) => writer !== 'dead',
    isMessageInLog: async (conversation, id) => conversation === 'conv' && id === inLog,
    now: () => testTime,
    newId,
    ...(displaced && { displaced }),
  })
}

describe('a process killed in the middle of an edit', () => {
  test.each([
    ['line_written', 'void', 'old'],
    ['folders_made', 'void', 'old'],
    ['temp_written', 'void', 'old'],
    ['before_exchange', 'void', 'old'],
    ['exchanged', 'stands', 'new'],
    ['temp_removed', 'stands', 'new'],
  ])('at %s leaves a line that is judged as %s', async (killAt, verdict, text) => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    expect((await runWorker(script, task(place, file, { killAt }))).signal).toBe('SIGKILL')
    expect(await settle(place, { turn: 't1' })).toMatchObject([
      { line: { path: 'a', message_id: 'm-dead' }, verdict },
    ])
    expect(textOf(file)).toBe(text)
    expect(readLines(place).map(({ type }) => type)).toEqual(verdict === 'void' ? ['edit', 'void'] : ['edit'])
    expect(tempFiles(place.workspace.root)).toEqual([])
    const lines = readLines(place).length
    expect(await settle(place)).toHaveLength(verdict === 'void' ? 0 : 1)
    expect(readLines(place)).toHaveLength(lines)
  })

  test.each([
    ['temp_written', false, 'void'],
    ['linked', true, 'stands'],
  ])('at %s of a new file leaves it there: %s', async (killAt, there, verdict) => {
    const place = makePlace()
    const file = path.join(place.workspace.root, 'deep/a')
    await runWorker(script, task(place, file, { killAt }))
    expect(await settle(place)).toMatchObject([{ verdict }])
    expect(existsSync(file)).toBe(there)
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('while it held a foreign file loses nothing of it', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    const foreign = { at: 'before_exchange', text: 'foreign' }
    await runWorker(script, task(place, file, { killAt: 'exchanged', foreign }))
    expect(textOf(file)).toBe('new')
    expect(await settle(place)).toMatchObject([{ verdict: 'stands' }])
    expect(isStored(place, 'foreign')).toBe(true)
    const lines = readLines(place)
    expect(lines.map(({ type }) => type)).toEqual(['edit', 'outside', 'outside'])
    expect(lines[2]?.after).toMatchObject({ sha256: lines[0]?.after.sha256, mode: lines[0]?.after.mode })
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('leaves a replaced file that is looked at until the turn that judges it ends', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    const log = openSync(file, 'a')
    try {
      await runWorker(script, task(place, file, { killAt: 'exchanged' }))
      const told: unknown[] = []
      const displaced = makeDisplaced(place, { onForeign: (bytes) => told.push(bytes) })
      await settle(place, { displaced })
      writeSync(log, ' tag')
      await displaced.settle()
      expect(isStored(place, 'old tag')).toBe(true)
      expect(told).toEqual([{ type: 'kept', path: 'a', sha256: sha256Of(Buffer.from('old tag')) }])
    } finally {
      closeSync(log)
    }
    expect(textOf(file)).toBe('new')
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('leaves a line that is a conflict when the file is neither side', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    await runWorker(script, task(place, file, { killAt: 'temp_written' }))
    writeFileSync(file, 'by hand')
    expect(await settle(place)).toMatchObject([{ verdict: 'unverified' }])
    expect(textOf(file)).toBe('by hand')
    expect(readLines(place).map(({ type }) => type)).toEqual(['edit'])
  })

  test('is judged before the same path is edited again', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    await runWorker(script, task(place, file, { killAt: 'temp_written' }))
    const liveness = { isWriterAlive: async () => false, isMessageInLog: async () => false }
    await writeThrough(makeSink(place, { liveness }), file, 'newer')
    expect(readLines(place).map(({ type }) => type)).toEqual(['edit', 'void', 'edit'])
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('is left alone while its writer may live', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    await runWorker(script, task(place, file, { killAt: 'temp_written', writer: 'w9' }))
    expect(await settle(place)).toEqual([])
    expect(tempFiles(place.workspace.root)).toHaveLength(1)
  })

  test('is left alone when its result is in the log, or its turn is not the one in question', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    await runWorker(script, task(place, file, { killAt: 'temp_written' }))
    expect(await settle(place, { turn: 't7' })).toEqual([])
    expect(await settle(place, { inLog: 'm-dead' })).toEqual([])
    expect(await settle(place, { turn: 't1' })).toHaveLength(1)
  })

  test('is told again to the turn that owns it, after someone else took it back', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    await runWorker(script, task(place, file, { killAt: 'temp_written' }))
    await settle(place)
    const lines = readLines(place)
    expect(await settle(place, { turn: 't1' })).toMatchObject([{ verdict: 'void' }])
    expect(readLines(place)).toEqual(lines)
  })

  test('while it wrote its temporary file leaves nothing to keep', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    await runWorker(script, task(place, file, { killAt: 'line_written', texts: ['a longer text'] }))
    const [line] = readLines(place)
    writeFileSync(path.join(place.workspace.root, `.cass-${line?.id}`), 'a lon')
    await settle(place)
    expect(readLines(place).map(({ type }) => type)).toEqual(['edit', 'void'])
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('is judged by what the next change found there', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    await runWorker(script, task(place, file, { killAt: 'temp_removed' }))
    // The sink of another process that took the writer for alive.
    await writeThrough(makeSink(place), file, 'newer')
    expect(await settle(place)).toMatchObject([{ verdict: 'stands' }])
    expect(readLines(place).map(({ type }) => type)).toEqual(['edit', 'edit'])
  })
})

describe('processes that edit one file at once', () => {
  test.each([false, true])('lose no bytes that someone wrote (without exchange: %s)', async (withoutSwap) => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'start')
    const texts = (writer: string) => Array.from({ length: 25 }, (_, index) => `${writer} ${index}`)
    const results = await Promise.all(
      ['p1', 'p2', 'p3'].map((writer) =>
        runWorker(script, task(place, file, { writer, texts: texts(writer), withoutSwap })),
      ),
    )
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
    // Every edit that was not refused was published over exactly what it said was there: the lines are one chain.
    const voided = new Set(readLines(place).map(({ voids }) => voids))
    const lines = readLines(place).filter(({ id, type }) => type !== 'void' && !voided.has(id))
    for (const [index, line] of lines.slice(1).entries()) expect(line.before).toEqual(lines[index]?.after)
    for (const line of lines) expect(line.before.bytes && line.after.bytes).toBe(true)
    expect(isStored(place, textOf(file))).toBe(true)
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('lose no bytes of a program that knows nothing of locks', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'start')
    const written: string[] = []
    let index = 0
    const sink = makeSink(place, {
      hooks: {
        onStep: (step) => {
          // As another program would, at every place where it can hurt.
          if (!['before_exchange', 'exchanged', 'before_exchange_back'].includes(step)) return
          index += 1
          if (index % 3 !== 0) return
          written.push(`foreign ${index}`)
          writeFileSync(file, `foreign ${index}`)
        },
      },
    })
    for (let round = 0; round < 30; round += 1) {
      await writeThrough(sink, file, `ours ${round}`).catch((error) => {
        if (error.code !== 'file_changed') throw error
      })
    }
    expect(written.length).toBeGreaterThan(5)
    const lost = written.filter((text) => textOf(file) !== text && !isStored(place, text))
    expect(lost).toEqual([])
  })
})
