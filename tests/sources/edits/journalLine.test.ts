import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256Of } from '../../../sources/edits/fileState.ts'
import {
  isJournalLine,
  isJournalPath,
  type JournalLine,
  journalPathOf,
  type LineType,
  makeJournalLine,
  makeVoidLine,
  parseJournal,
  realPathOf,
  stringifyJournalLine,
} from '../../../sources/edits/journalLine.ts'

const types: LineType[] = ['edit', 'restore', 'undo', 'redo', 'shell', 'outside', 'void', 'gap']
const side = { exists: true, sha256: sha256Of(Buffer.from('x')), mode: '644', size: 1, bytes: true }
const absent = { exists: false, bytes: false }

function line(changes: Partial<JournalLine> = {}): JournalLine {
  return {
    v: 1,
    id: 'l1',
    writer: 'w',
    type: 'edit',
    path: 'a/b',
    before: absent,
    after: side,
    ts: 't',
    ...changes,
  }
}

function full(type: LineType): JournalLine {
  return line({
    type,
    created_dirs: ['a'],
    chat_id: 'c',
    conversation: 'c',
    turn: 't',
    message_id: 'm',
    tool_call_id: 'call:1',
    tool_name: 'write',
    operation: 'o',
    voids: 'l0',
    reason: 'symlink',
    paths: ['a/b', 'a/c'],
    partial: true,
  })
}

const lines = fc.array(
  fc.record({
    id: fc.stringMatching(/^[a-z0-9-]{1,8}$/),
    path: fc.string({ unit: 'binary' }),
    type: fc.constantFrom(...types),
  }),
  { minLength: 1, maxLength: 8 },
)

/** Lines with ids of their own, as they lie in a file. */
function asJournal(seeds: ReadonlyArray<{ id: string; path: string; type: LineType }>) {
  const made = seeds.map(({ id, path, type }, index) =>
    line({ ...full(type), id: `${id}-${index}`, path: isJournalPath(path) ? path : `p${index}` }),
  )
  return { made, bytes: Buffer.from(made.map((one) => `${stringifyJournalLine(one)}\n`).join('')) }
}

describe('a journal line', () => {
  test.each(types)('of type %s is read as it was written', (type) => {
    const parsed = parseJournal(Buffer.from(`${stringifyJournalLine(full(type))}\n`))
    expect(parsed.lines[0]?.line).toEqual(full(type))
    expect(parsed.holes).toEqual([])
  })

  test('keeps keys that it does not know, since later versions may add some', () => {
    expect(isJournalLine({ ...line(), more: 1 })).toBe(true)
  })

  test.each<[string, object]>([
    ['an unknown type', { type: 'rename' }],
    ['a path that leads out', { path: '../x' }],
    ['a path with a step back', { path: 'a/../../x' }],
    ['no path', { path: '' }],
    ['an id that is a path', { id: '../../x' }],
    ['a side without bytes flag', { before: { exists: true } }],
    ['a hash that is a path', { after: { ...side, sha256: '../../../etc' } }],
    ['a void that voids nothing', { type: 'void' }],
    ['a gap without a reason', { type: 'gap' }],
    ['a made folder that leads out', { created_dirs: ['..'] }],
  ])('with %s is refused', (_, changes) => {
    expect(isJournalLine({ ...line(), ...changes })).toBe(false)
  })

  test('is made with its keys in order, and taken back by a void of the same path', () => {
    const source = { now: () => new Date(0), newId: () => 'n1' }
    const by = { writer: 'w', chat_id: 'c', conversation: 'c', message_id: 'm' }
    const edit = makeJournalLine(source, by, {
      type: 'edit',
      path: 'a',
      before: absent,
      after: side,
      created_dirs: [],
    })
    expect(Object.keys(edit)).toEqual([
      'v',
      'id',
      'writer',
      'type',
      'path',
      'before',
      'after',
      'chat_id',
      'conversation',
      'message_id',
      'ts',
    ])
    expect(makeVoidLine(source, 'w2', edit)).toMatchObject({
      type: 'void',
      voids: 'n1',
      path: 'a',
      writer: 'w2',
      conversation: 'c',
      ts: '1970-01-01T00:00:00.000Z',
    })
  })

  test.each([
    ['/w', '/w/a/b', 'a/b'],
    ['/w', '/w/..a', '..a'],
    ['/w', '/x/a', '/x/a'],
    ['/w', '/ww/a', '/ww/a'],
    ['/', '/a', 'a'],
  ])('spells paths relative to %s: %s is %s', (root, real, spelled) => {
    expect(journalPathOf(root, real)).toBe(spelled)
    expect(realPathOf(root, spelled)).toBe(real)
  })
})

describe('a journal', () => {
  test('gives each line the place behind its last byte', () => {
    const one = stringifyJournalLine(line())
    const parsed = parseJournal(Buffer.from(`${one}\n\n${one}\n`), 10)
    expect(parsed.lines.map(({ end }) => end)).toEqual([10 + one.length, 12 + 2 * one.length])
    expect(parsed.consumed).toBe(13 + 2 * one.length)
  })

  test.each<[string, string | Buffer, string]>([
    ['NUL bytes', '\0\0', 'nul_bytes'],
    ['bad UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'bad_utf8'],
    ['no JSON', '{"v":1', 'not_json'],
    ['another shape', '{"v":1,"id":"x"}', 'not_a_line'],
    ['no object', 'null', 'not_a_line'],
    ['a later version', JSON.stringify({ ...line(), v: 2 }), 'unknown_version'],
  ])('reports a hole with %s and reads on', (_, hole, reason) => {
    const one = Buffer.from(`${stringifyJournalLine(line())}\n`)
    const parsed = parseJournal(Buffer.concat([one, Buffer.from(hole), Buffer.from('\n'), one]))
    expect(parsed.lines).toHaveLength(2)
    expect(parsed.holes).toEqual([{ start: one.length, end: one.length + Buffer.from(hole).length, reason }])
  })

  test('cut at any byte loses at most the line that was cut', () => {
    fc.assert(
      fc.property(lines, fc.nat(), (seeds, at) => {
        const { made, bytes } = asJournal(seeds)
        const cut = at % (bytes.length + 1)
        const { lines: whole, holes, consumed } = parseJournal(bytes.subarray(0, cut))
        const breaks = bytes.subarray(0, cut).filter((byte) => byte === 0x0a).length
        // A line that lacks only its line break is there.
        const complete = bytes[cut] === 0x0a ? breaks + 1 : breaks
        expect(whole.map((placed) => placed.line)).toEqual(made.slice(0, complete))
        expect(holes).toEqual([])
        const rest = parseJournal(bytes.subarray(consumed), consumed)
        expect([...whole, ...rest.lines]).toEqual(parseJournal(bytes).lines)
      }),
    )
  })

  test('with any byte of a line damaged loses at most that line', () => {
    fc.assert(
      fc.property(lines, fc.nat(), fc.integer({ min: 0, max: 255 }), (seeds, at, value) => {
        const { made, bytes } = asJournal(seeds)
        const place = at % bytes.length
        fc.pre(bytes[place] !== 0x0a)
        const hit = bytes.subarray(0, place).filter((byte) => byte === 0x0a).length
        bytes[place] = value
        const left = parseJournal(bytes).lines.map((placed) => placed.line)
        const others = made.filter((_, index) => index !== hit)
        for (const other of others) expect(left).toContainEqual(other)
      }),
    )
  })

  test('of any bytes is read without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { consumed } = parseJournal(bytes)
        expect(consumed).toBeLessThanOrEqual(bytes.length)
      }),
    )
  })
})
