import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { sha256Of } from '../../../sources/edits/fileState.ts'
import { holdWhole } from '../../../sources/workspace/hold.ts'
import {
  isStored,
  makePlace,
  makeSink,
  modeOf,
  noWait,
  put,
  readLines,
  tempFiles,
  testTime,
  textOf,
  writeThrough,
} from './_place.ts'

describe('an edit of a file', () => {
  test('changes its bytes, keeps its mode, and is told by one line with both sides stored', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'src/a.sh', 'old', 0o755)
    await writeThrough(makeSink(place), file, 'new')
    expect(textOf(file)).toBe('new')
    expect(modeOf(file)).toBe(0o755)
    const lines = readLines(place)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      v: 1,
      writer: 'w1',
      type: 'edit',
      path: 'src/a.sh',
      before: { exists: true, sha256: sha256Of(Buffer.from('old')), mode: '755', size: 3, bytes: true },
      after: { exists: true, sha256: sha256Of(Buffer.from('new')), mode: '755', size: 3, bytes: true },
      chat_id: 'chat',
      conversation: 'conv',
      turn: 't1',
      message_id: 'm1',
      tool_call_id: 'call-1',
      tool_name: 'write',
      ts: testTime.toISOString(),
    })
    expect(isStored(place, 'old') && isStored(place, 'new')).toBe(true)
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('creates the folders that are missing and names them in its line', async () => {
    const place = makePlace()
    const file = path.join(place.workspace.root, 'a/b/c.txt')
    await writeThrough(makeSink(place), file, 'x')
    expect(textOf(file)).toBe('x')
    expect(modeOf(file)).toBe(0o644)
    expect(readLines(place)[0]).toMatchObject({
      before: { exists: false, bytes: false },
      created_dirs: ['a', 'a/b'],
    })
  })

  test('writes no line when the bytes are already there', async () => {
    const place = makePlace()
    await writeThrough(makeSink(place), put(place.workspace.root, 'a', 'same'), 'same')
    expect(readLines(place)).toEqual([])
    expect(isStored(place, 'same')).toBe(false)
  })

  test('of an empty file, and to an empty file, is told too', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', '')
    await writeThrough(makeSink(place), file, 'x')
    await writeThrough(makeSink(place), file, '')
    expect(textOf(file)).toBe('')
    expect(readLines(place).map(({ after }) => after.size)).toEqual([1, 0])
  })

  test('outside the workspace keeps the bytes too, under its absolute path', async () => {
    const place = makePlace()
    const file = put(path.dirname(place.workspace.root), 'beside.txt', 'old')
    await writeThrough(makeSink(place), file, 'new')
    expect(readLines(place)[0]?.path).toBe(file)
    expect(isStored(place, 'old')).toBe(true)
  })

  test('of a file with two names leaves the other name with the old bytes', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    linkSync(file, path.join(place.workspace.root, 'b'))
    await writeThrough(makeSink(place), file, 'new')
    expect(textOf(path.join(place.workspace.root, 'b'))).toBe('old')
    expect(isStored(place, 'old')).toBe(true)
  })

  test('tells first what someone else did to a file of the journal', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'one')
    await writeThrough(makeSink(place), file, 'two')
    writeFileSync(file, 'three, by hand')
    await writeThrough(makeSink(place), file, 'four')
    const lines = readLines(place)
    expect(lines.map(({ type }) => type)).toEqual(['edit', 'outside', 'edit'])
    expect(lines[1]?.before).toEqual(lines[0]?.after)
    expect(lines[2]?.before).toEqual(lines[1]?.after)
    expect(isStored(place, 'three, by hand')).toBe(true)
  })
})

describe('a refused edit', () => {
  test.each([
    ['changed', (file: string) => writeFileSync(file, 'theirs')],
    ['got another mode', (file: string) => chmodSync(file, 0o600)],
  ])('of a file that %s after it was read leaves no line and the file alone', async (_, change) => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    const sink = makeSink(place)
    const observed = await sink.observe(file)
    change(file)
    const left = textOf(file)
    await expect(sink.publish({ realPath: file, observed, bytes: Buffer.from('new') })).rejects.toMatchObject(
      {
        code: 'file_changed',
        kind: 'refused',
      },
    )
    expect(textOf(file)).toBe(left)
    expect(readLines(place)).toEqual([])
  })

  test('names the setting when the file is too large to keep', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'x'.repeat(101))
    const sink = makeSink(place, { maxFileBytes: 100 })
    await expect(sink.observe(file)).rejects.toMatchObject({
      code: 'file_too_large',
      hint: expect.stringContaining('snapshots.maxFileBytes'),
    })
    const small = put(place.workspace.root, 'b', 'x')
    await expect(writeThrough(sink, small, 'y'.repeat(101))).rejects.toMatchObject({
      code: 'snapshot_refused',
      hint: expect.stringContaining('snapshots.maxFileBytes'),
    })
    expect(textOf(small)).toBe('x')
    expect(readLines(place)).toEqual([])
  })

  test('names the setting when the store cannot be written', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    put(place.home, 'file-snapshots/objects', 'a file where a folder should be')
    await expect(writeThrough(makeSink(place), file, 'new')).rejects.toMatchObject({
      code: 'snapshot_refused',
      hint: expect.stringContaining('snapshots.required'),
    })
    expect(textOf(file)).toBe('old')
    expect(readLines(place)).toEqual([])
  })

  test('leaves the file alone when the journal cannot be read', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    mkdirSync(path.join(place.home, 'workspaces', place.workspace.key, 'journal.jsonl'), { recursive: true })
    await expect(writeThrough(makeSink(place), file, 'new')).rejects.toMatchObject({
      code: 'journal_unreadable',
    })
    expect(textOf(file)).toBe('old')
  })

  test('leaves the file alone when the lock of the journal cannot be used', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    mkdirSync(path.join(place.home, 'locks', 'workspace', place.workspace.key, 'journal'), {
      recursive: true,
    })
    await expect(writeThrough(makeSink(place), file, 'new')).rejects.toMatchObject({
      code: 'lock_unusable',
    })
    expect(textOf(file)).toBe('old')
  })

  test('is not a link, a folder, or a file behind a link', async () => {
    const place = makePlace()
    const { root } = place.workspace
    const file = put(root, 'real/a', 'old')
    symlinkSync(file, path.join(root, 'link'))
    symlinkSync(path.join(root, 'real'), path.join(root, 'folder-link'))
    const sink = makeSink(place)
    await expect(sink.observe(path.join(root, 'link'))).rejects.toMatchObject({ code: 'not_a_file' })
    await expect(sink.observe(path.join(root, 'real'))).rejects.toMatchObject({ code: 'not_a_file' })
    await expect(sink.observe(path.join(root, 'folder-link/a'))).rejects.toMatchObject({
      code: 'unsafe_path',
    })
    await expect(sink.observe(path.join(file, 'below'))).rejects.toMatchObject({ code: 'unsafe_path' })
  })

  test('waits no longer than its signal, and announces the wait once', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    const lock = await holdWhole({ home: place.home, key: place.workspace.key }, noWait)
    const controller = new AbortController()
    const announced: string[] = []
    const onWait = (written: string) => {
      announced.push(written)
      controller.abort()
    }
    const sink = makeSink(place, { wait: { timeoutMs: null, signal: controller.signal, onWait } })
    await expect(sink.observe(file)).rejects.toThrow()
    expect(announced).toEqual(["'a'"])
    await lock.release()
  })
})

describe('when copies are not required', () => {
  test('a file that is too large is changed, with a gap before its line', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'x'.repeat(101))
    await writeThrough(makeSink(place, { maxFileBytes: 100, required: false }), file, 'new')
    expect(textOf(file)).toBe('new')
    const lines = readLines(place)
    expect(lines.map(({ type, reason }) => [type, reason])).toEqual([
      ['gap', 'oversized'],
      ['edit', undefined],
    ])
    expect(lines[1]).toMatchObject({ before: { bytes: false, size: 101 }, after: { bytes: true } })
  })

  test('a store that cannot be written lets the change through, with a gap', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    put(place.home, 'file-snapshots', 'a file where a folder should be')
    await writeThrough(makeSink(place, { required: false }), file, 'new')
    expect(textOf(file)).toBe('new')
    expect(readLines(place).map(({ type, reason }) => [type, reason])).toEqual([
      ['gap', 'capture_failed'],
      ['edit', undefined],
    ])
  })
})
