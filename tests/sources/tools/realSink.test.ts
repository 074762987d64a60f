import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JournalPlace } from '../../../sources/edits/journal.ts'
import { Journal } from '../../../sources/edits/journal.ts'
import { observeTracked } from '../../../sources/edits/observe.ts'
import { runCall } from '../../../sources/tools/registry.ts'
import type { ToolOutcome } from '../../../sources/tools/tool.ts'
import { holdWhole } from '../../../sources/workspace/hold.ts'
import type { AccessMode } from '../../../sources/workspace/policy.ts'
import {
  isStored,
  makePlace,
  makeSink,
  modeOf,
  newId,
  noWait,
  put,
  readLines,
  type SinkChanges,
  tempFiles,
  testTime,
  textOf,
} from '../edits/_place.ts'

interface CallOptions extends SinkChanges {
  readonly mode?: AccessMode
}

/** One call, decided and run as in a turn: with a sink of its own that keeps its promises to the journal. */
async function call(
  place: JournalPlace,
  name: string,
  input: object,
  { mode = 'workspace-edit', ...changes }: CallOptions = {},
): Promise<ToolOutcome> {
  const { home, workspace } = place
  const context = {
    cwd: workspace.root,
    home: path.dirname(workspace.root),
    policy: { mode, workspace: workspace.root, docsFolder: path.join(home, 'docs-cass'), cassHome: home },
    edits: makeSink(place, changes),
    shellEnvironment: { PATH: process.env.PATH ?? '' },
    signal: new AbortController().signal,
    onOutput: () => {},
    holdWorkspace: async () => {
      const hold = await holdWhole({ home, key: workspace.key }, noWait)
      await observeTracked({
        ...{ journal: new Journal(place), family: new Set(['conv']), maxFileBytes: 1 << 20, wait: null },
        ...{ attribution: { writer: 'w1', chat_id: 'chat', conversation: 'conv', turn: 't1' } },
        ...{ isWriterAlive: async () => true, isMessageInLog: async () => false, now: () => testTime, newId },
      })
      return () => hold.release()
    },
  }
  return await runCall({ name, input }, context, true)
}

const write = (place: JournalPlace, file: string, content: string, options?: CallOptions) =>
  call(place, 'write', { path: file, content }, options)

const edit = (place: JournalPlace, file: string, changes: [string, string][], options?: CallOptions) =>
  call(
    place,
    'edit',
    { path: file, edits: changes.map(([old_text, new_text]) => ({ old_text, new_text })) },
    options,
  )

/** The types of the journal's lines with their paths, and no temporary file left anywhere. */
function told(place: JournalPlace): string[] {
  expect(tempFiles(place.workspace.root)).toEqual([])
  return readLines(place).map(({ type, path: file }) => `${type} ${file ?? ''}`.trim())
}

describe('tools with the real edit sink', () => {
  it('write a new file with its folders, and find it again', async () => {
    const place = makePlace()
    const file = path.join(place.workspace.root, 'src/deep/a.txt')
    expect(await write(place, 'src/deep/a.txt', 'one\ntwo\n')).toEqual({
      ok: true,
      content: `wrote 8 bytes to ${file}`,
      changes: [{ path: file, added: 2, removed: 0 }],
    })
    expect(modeOf(file)).toBe(0o644)
    expect((await call(place, 'ls', { path: 'src/deep' })).content).toBe(
      `${path.dirname(file)}\n  a.txt  8 B\n`,
    )
    expect((await call(place, 'read', { files: [{ path: 'src/deep/a.txt' }] })).content).toContain('2 | two')
    expect((await call(place, 'grep', { query: 'two' })).content).toBe(`${file}:2: two\n`)
    expect(told(place)).toEqual(['edit src/deep/a.txt'])
    expect(readLines(place)[0]?.created_dirs).toEqual(['src', 'src/deep'])
  })

  it('edit a file twice in a row, each time from what is there, with all states kept', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'run.sh', 'a\nb\n', 0o755)
    expect((await edit(place, 'run.sh', [['a', 'A']])).content).toContain('-a\n+A\n b')
    expect(
      await edit(place, 'run.sh', [
        ['b', 'B'],
        ['A', 'AA'],
      ]),
    ).toMatchObject({
      ok: true,
      changes: [{ path: file, added: 2, removed: 2 }],
    })
    expect(textOf(file)).toBe('AA\nB\n')
    expect(modeOf(file)).toBe(0o755)
    expect(told(place)).toEqual(['edit run.sh', 'edit run.sh'])
    const [first, second] = readLines(place)
    expect(second?.before).toEqual(first?.after)
    expect(['a\nb\n', 'A\nb\n', 'AA\nB\n'].every((text) => isStored(place, text))).toBe(true)
  })

  it('tell what the shell did to a file between two edits', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'one')
    await write(place, 'a', 'two')
    expect((await call(place, 'shell', { command: 'printf three > a' })).content).toContain('exit code: 0')
    expect((await edit(place, 'a', [['two', 'x']])).content).toContain('old_text not found')
    expect((await edit(place, 'a', [['three', 'four']])).ok).toBe(true)
    expect(textOf(file)).toBe('four')
    expect(told(place)).toEqual(['edit a', 'outside a', 'edit a'])
    expect(isStored(place, 'three')).toBe(true)
  })

  it('write what is there already without a line', async () => {
    const place = makePlace()
    put(place.workspace.root, 'a', 'same')
    expect(await write(place, 'a', 'same')).toMatchObject({ ok: true, changes: [] })
    expect((await edit(place, 'a', [['same', 'same']])).changes).toEqual([])
    expect(told(place)).toEqual([])
  })

  it('keep the mode, line ends, byte order mark and encoding of what is edited', async () => {
    const place = makePlace()
    const mark = Buffer.from([0xef, 0xbb, 0xbf])
    const wide = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
    const cases: [string, Buffer, Buffer][] = [
      ['crlf', Buffer.from('a\r\nb\r\nc'), Buffer.from('a\r\nB\r\nB2\r\nc')],
      [
        'mark',
        Buffer.concat([mark, Buffer.from('b\r\n')]),
        Buffer.concat([mark, Buffer.from('B\r\nB2\r\n')]),
      ],
      ['wide', wide('é\r\nb\r\n'), wide('é\r\nB\r\nB2\r\n')],
      ['latin', Buffer.from('é b', 'latin1'), Buffer.from('é B\nB2', 'latin1')],
    ]
    for (const [name, before, after] of cases) {
      const file = put(place.workspace.root, name, '', 0o640)
      writeFileSync(file, before)
      expect((await edit(place, name, [['b', 'B\nB2']])).ok).toBe(true)
      expect([name, readFileSync(file), modeOf(file)]).toEqual([name, after, 0o640])
    }
    expect(told(place)).toHaveLength(4)
  })

  // The file is changed at the last moment at which a change can be seen, and at earlier ones.
  it.each(['line_written', 'temp_written', 'before_exchange'] as const)(
    'refuse a file that changes at %s, name the change, and lose nothing',
    async (step) => {
      const place = makePlace()
      const file = put(place.workspace.root, 'a', 'old', 0o600)
      const theirs = (text: string) => ({
        hooks: { onStep: (at: string) => (at === step ? writeFileSync(file, text) : undefined) },
      })
      const refused = {
        ok: false,
        content: expect.stringMatching(/'.*\/a' changed after it was read\nhint: read the file again/),
        changes: [],
      }
      expect(await write(place, 'a', 'new', theirs('theirs'))).toEqual(refused)
      expect(textOf(file)).toBe('theirs')
      expect(await edit(place, 'a', [['theirs', 'ours']], theirs('theirs again'))).toEqual(refused)
      expect(textOf(file)).toBe('theirs again')
      expect(modeOf(file)).toBe(0o600)
      expect(tempFiles(place.workspace.root)).toEqual([])
      // What is there now can be edited, and every state of the others is kept.
      expect((await edit(place, 'a', [['again', 'at last']])).ok).toBe(true)
      expect(textOf(file)).toBe('theirs at last')
      expect(isStored(place, 'theirs again')).toBe(true)
    },
  )

  it('refuse a new file whose name is taken meanwhile, and one that is deleted meanwhile', async () => {
    const place = makePlace()
    const file = path.join(place.workspace.root, 'sub/a')
    const taken = {
      hooks: {
        onStep: (at: string) => (at === 'before_exchange' ? writeFileSync(file, 'theirs') : undefined),
      },
    }
    expect(await write(place, 'sub/a', 'new', taken)).toMatchObject({
      ok: false,
      content: expect.stringContaining('changed after it was read'),
    })
    expect(textOf(file)).toBe('theirs')
    const gone = { hooks: { onStep: (at: string) => (at === 'before_exchange' ? rmSync(file) : undefined) } }
    expect(await edit(place, 'sub/a', [['theirs', 'ours']], gone)).toMatchObject({
      ok: false,
      content: expect.stringContaining('changed after it was read'),
    })
    expect(existsSync(file)).toBe(false)
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  it('write to where a link leads inside of the workspace, and leave the link', async () => {
    const place = makePlace()
    const { root } = place.workspace
    const file = put(root, 'real/a', 'old')
    symlinkSync('real', path.join(root, 'folder'))
    symlinkSync('real/a', path.join(root, 'link'))
    expect((await write(place, 'link', 'new')).content).toBe(`wrote 3 bytes to ${file}`)
    expect((await edit(place, 'folder/a', [['new', 'newer']])).ok).toBe(true)
    expect(textOf(file)).toBe('newer')
    expect(told(place)).toEqual(['edit real/a', 'edit real/a'])
  })

  it('refuse a link that takes the place of the file or of its folder after the look', async () => {
    const place = makePlace()
    const { root } = place.workspace
    const outside = put(path.dirname(root), 'outside/a', 'old')
    const file = put(root, 'sub/a', 'old')
    const swap = (from: string, to: string) => ({
      hooks: {
        onStep: (at: string) => {
          if (at !== 'line_written') return
          rmSync(from, { recursive: true })
          symlinkSync(to, from)
        },
      },
    })
    const first = await write(place, 'sub/a', 'new', swap(file, outside))
    expect(first).toMatchObject({ ok: false, content: expect.stringContaining(`'${file}' changed after`) })
    rmSync(file)
    writeFileSync(file, 'old')
    const second = await write(place, 'sub/a', 'new', swap(path.dirname(file), path.dirname(outside)))
    expect(second).toMatchObject({
      ok: false,
      content: expect.stringContaining('is not a folder but a link or a file'),
    })
    expect(textOf(outside)).toBe('old')
    expect([tempFiles(root), tempFiles(path.dirname(outside))]).toEqual([[], []])
  })

  it('refuse a link out of the workspace, a folder, and a file in the place of a folder', async () => {
    const place = makePlace()
    const { root } = place.workspace
    const outside = put(path.dirname(root), 'outside', 'old')
    symlinkSync(outside, path.join(root, 'out'))
    put(root, 'file', 'x')
    mkdirSync(path.join(root, 'folder'))
    const cases = [
      ['out', 'escapes workspace-edit root'],
      ['folder', 'is not a regular file'],
      ['file/a', 'is a file, not a folder'],
    ] as const
    for (const [name, message] of cases) {
      for (const outcome of [await write(place, name, 'new'), await edit(place, name, [['o', 'n']])]) {
        expect(outcome).toMatchObject({ ok: false, content: expect.stringContaining(message) })
      }
    }
    expect(textOf(outside)).toBe('old')
    expect(told(place)).toEqual([])
  })

  it('refuse what is too large to keep and name the setting, but for one that lets it through', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'x'.repeat(101))
    put(place.workspace.root, 'b', 'small')
    const small = { maxFileBytes: 100 }
    const refused = { ok: false, content: expect.stringContaining('snapshots.maxFileBytes'), changes: [] }
    expect(await write(place, 'a', 'new', small)).toEqual(refused)
    expect(await edit(place, 'a', [['x', 'y']], small)).toEqual(refused)
    expect(await write(place, 'b', 'y'.repeat(101), small)).toEqual(refused)
    expect(await write(place, 'new/c', 'y'.repeat(101), small)).toEqual(refused)
    expect(existsSync(path.join(place.workspace.root, 'new'))).toBe(false)
    expect(textOf(file)).toBe('x'.repeat(101))
    expect(told(place)).toEqual([])
    expect((await write(place, 'a', 'new', { ...small, required: false })).ok).toBe(true)
    expect(told(place)).toEqual(['gap a', 'edit a'])
  })

  it.skipIf(process.getuid?.() === 0)('say why a folder or a file cannot be used', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'sub/a', 'old')
    chmodSync(path.dirname(file), 0o500)
    const shut = await write(place, 'sub/a', 'new')
    chmodSync(path.dirname(file), 0o700)
    expect(shut).toMatchObject({ ok: false, content: expect.stringContaining('cannot write') })
    expect(textOf(file)).toBe('old')
    chmodSync(file, 0)
    expect((await write(place, 'sub/a', 'new')).content).toContain('cannot read')
  })

  it('wait for one another, so that calls at once on one file lose no edit', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', '0\n1\n2\n3\n')
    const outcomes = await Promise.all(
      ['0', '1', '2', '3'].map((old) => edit(place, 'a', [[old, `n${old}`]])),
    )
    // Whoever looked before another one published is refused; whoever is told that it worked is in the file.
    for (const [index, { ok, content }] of outcomes.entries()) {
      if (!ok) expect(content).toContain('changed after it was read')
      expect(textOf(file).includes(`n${index}`)).toBe(ok)
    }
    expect(outcomes.some(({ ok }) => ok)).toBe(true)
    expect(told(place)).toHaveLength(outcomes.filter(({ ok }) => ok).length)
  })

  it('keep no change of what the mode refuses', async () => {
    const place = makePlace()
    put(place.workspace.root, 'a', 'old')
    for (const outcome of [
      await write(place, 'a', 'new', { mode: 'read-only' }),
      await write(place, '.git/hooks/x', 'new', { mode: 'full-access' }),
      await write(place, path.join(place.home, 'config.json'), '{}', { mode: 'full-access' }),
    ]) {
      expect(outcome.ok).toBe(false)
    }
    const beside = path.join(path.dirname(place.workspace.root), 'beside')
    expect((await write(place, beside, 'new', { mode: 'full-access' })).ok).toBe(true)
    expect(told(place)).toEqual([`edit ${beside}`])
  })
})
