import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chainDigest } from '../../../sources/conversation/digest.ts'
import {
  ENTRY_TYPES,
  type LogEntry,
  parseEntry,
  stringifyEntry,
  tryParseEntry,
} from '../../../sources/conversation/entry.ts'
import { wellFormed } from '../../../sources/conversation/json.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { CassError } from '../../../sources/errors.ts'
import { anyMessage, assistant, call, TS, user } from './_messages.ts'

const base = { writer: 'host-1-00000000000000ff', at: TS }
const onHead = { ...base, head: 'main' }
const msgs = [user('hello')] as const
const checkpoint = { record_index: 3, tool_call_id: 'a', label: 'tool call read' }
const branch_from = { chat_id: '2026-06-25-101533-a_-9', record_index: 4, checkpoint_label: 'user' }
const meta = { created_at: TS, model: 'm', cwd: '/w', parent_chat_id: '2026-06-25-101533-a_-9', branch_from }

const entries: LogEntry[] = [
  { type: 'log', ...base, generation: 1, upgraded_from_schema: 1, meta },
  { type: 'writer', ...base, pid: 1, hostname: 'host' },
  { type: 'message', ...onHead, id: 'A', turn: 'T', parent: 'P', digest: 'd', fs: 12, ws: 'w', msgs },
  { type: 'message', ...onHead, id: 'A', turn: null, parent: null, digest: null, fs: null, ws: null, msgs },
  { type: 'message', ...onHead, id: 'A', turn: null, parent: null, digest: null, fs: 0, ws: 'w', msgs },
  { type: 'fork', ...onHead, new_head: 'H', from: 'A', kind: 'rewind', name: 'n', checkpoint },
  { type: 'fork', ...onHead, new_head: 'H', from: null, kind: 'fork', name: null, checkpoint: null },
  { type: 'select', ...onHead, reason: 'switch' },
  { type: 'rename', ...onHead, name: 'n' },
  { type: 'retire', ...onHead },
  { type: 'turn_begin', ...onHead, turn: 'T', leaf: 'A', preserve_user: true },
  { type: 'turn_end', ...onHead, turn: 'T' },
  { type: 'patch', ...onHead, target: 'A', msgs },
  { type: 'system', ...onHead, msgs },
  { type: 'rewind', ...onHead, to: 'A', cause: 'truncate' },
  { type: 'redact', ...onHead, targets: new Map([['A', msgs[0]]]) },
  { type: 'compaction', ...onHead, covered_leaf: 'A' },
  { type: 'checkpoint', ...base },
]

describe('log entries', () => {
  it.each(entries)('of type $type come back as they were written', (entry) => {
    expect(parseEntry(stringifyEntry(entry))).toEqual(entry)
  })

  it('are tested in every type', () => {
    expect(new Set(entries.map(({ type }) => type))).toEqual(ENTRY_TYPES)
  })

  it('start with the header, end with the message, and leave out what is empty', () => {
    const entry: LogEntry = {
      ...onHead,
      msgs,
      type: 'message',
      id: 'A',
      turn: '',
      parent: null,
      digest: 'd',
      fs: 0,
      ws: 'w',
    }
    expect(stringifyEntry(entry)).toBe(
      `{"schema_version":2,"type":"message","id":"A","head":"main","writer":"host-1-00000000000000ff","at":"${TS}",` +
        `"digest":"d","fs":0,"ws":"w","msgs":[{"role":"user","content":"hello","ts":"${TS}"}]}`,
    )
  })

  it('stay one line of well-formed text whatever the message holds', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const line = stringifyEntry({
          ...onHead,
          type: 'message',
          id: 'A',
          turn: null,
          parent: null,
          digest: null,
          fs: null,
          ws: null,
          msgs: [message],
        })
        expect(line).not.toMatch(/[\n\r]|(?<!\\)(?:\\\\)*\\ud[89a-f]/)
        const back = parseEntry(line)
        expect(back.type === 'message' && back.msgs[0]).toEqual(wellFormedMessage(message))
      }),
    )
  })

  it('of other writers may leave out the head, the time and what is empty', () => {
    const line =
      '{"schema_version":2,"type":"message","id":"A","at":"T","msgs":[{"role":"assistant","content":null}]}'
    expect(parseEntry(line)).toMatchObject({
      head: 'main',
      writer: '',
      parent: null,
      msgs: [{ content: '', ts: 'T' }],
    })
  })

  it.each([
    ['{"schema_version":2,"type":"shrug"}', 'log_unknown_type'],
    ['{"schema_version":3,"type":"message"}', 'log_unknown_schema'],
    ['{"schema_version":1,"type":"shrug"}', 'log_unknown_schema'],
  ])('refuse the whole log for %s', (line, code) => {
    expect(() => tryParseEntry(line)).toThrow(expect.objectContaining({ code }))
    expect(() => parseEntry(line)).toThrow(expect.objectContaining({ code }))
  })

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"type":"message"}',
    '{"schema_version":2}',
    '{"schema_version":"2","type":"message"}',
    '{"schema_version":2,"type":"message","id":"A"}',
    '{"schema_version":2,"type":"message","id":"","msgs":[{"role":"user","content":"x"}]}',
    '{"schema_version":2,"type":"message","id":"A","msgs":[]}',
    '{"schema_version":2,"type":"message","id":"A","msgs":[{"role":"user","content":"x"},{"role":"user","content":"y"}]}',
    '{"schema_version":2,"type":"message","id":"A","msgs":[{"role":"shrug","content":"x"}]}',
    '{"schema_version":2,"type":"message","id":7,"msgs":[{"role":"user","content":"x"}]}',
    '{"schema_version":2,"type":"fork","from":"A"}',
    '{"schema_version":2,"type":"turn_begin"}',
    '{"schema_version":2,"type":"retire"}\0',
  ])('see a hole in %j', (line) => {
    expect(tryParseEntry(line)).toBeNull()
    expect(() => parseEntry(line)).toThrow(expect.objectContaining({ code: 'log_bad_line' }))
  })

  it('never throw anything but the two refusals, wherever a line is cut or damaged', () => {
    const lines = entries.map(stringifyEntry)
    const place = fc.nat({ max: 400 })
    fc.assert(
      fc.property(
        fc.constantFrom(...lines),
        place,
        fc.string({ maxLength: 3 }),
        fc.nat({ max: 5 }),
        (line, at, put, cut) => {
          const damaged = line.slice(0, at) + put + line.slice(at + cut)
          try {
            tryParseEntry(damaged)
          } catch (error) {
            expect(error).toBeInstanceOf(CassError)
            expect(['log_unknown_type', 'log_unknown_schema']).toContain((error as CassError).code)
          }
        },
      ),
      { numRuns: 2000 },
    )
    for (const line of lines) {
      for (let end = 0; end < line.length; end++) expect(tryParseEntry(line.slice(0, end))).toBeNull()
    }
  })
})

describe('chain digests', () => {
  it('are the same for what was stored and what was read back', () => {
    const odd = assistant('a\ud800', call('x', '{"a":1}'))
    expect(chainDigest('', odd)).toBe(chainDigest('', wellFormedMessage(odd)))
  })

  it('depend on the parent and on what is said, not on times, usage and outcome', () => {
    const message = user('hello')
    const digest = chainDigest('', message)
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    expect(chainDigest('', { ...message, ts: 'later', ok: true })).toBe(digest)
    expect(chainDigest(digest, message)).not.toBe(digest)
    expect(chainDigest('', user('hello!'))).not.toBe(digest)
    expect(chainDigest('', assistant('', call('x', '1')))).not.toBe(
      chainDigest('', assistant('', call('x', '2'))),
    )
  })
})

function wellFormedMessage(message: Message): Message {
  const fixed = (value: unknown): unknown => {
    if (typeof value === 'string') return wellFormed(value)
    if (Array.isArray(value)) return value.map(fixed)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fixed(each)]))
  }
  return fixed(message) as Message
}
