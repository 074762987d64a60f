import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import {
  chainTo,
  type Graph,
  isOnPath,
  makeGraph,
  selectedHead,
} from '../../../sources/conversation/graph.ts'
import { logPath } from '../../../sources/conversation/paths.ts'
import { replay } from '../../../sources/conversation/replay.ts'
import { CHAT, rootWithLog, textsOf } from './_store.ts'

const AT = '2026-06-25T15:15:33.123456789+00:00'
let second = 0

/** A line as another program of the format writes it: header keys first, empty ones left out. */
function line(type: string, keys: Record<string, unknown>): string {
  second += 1
  const at = new Date(Date.parse(AT) + second * 1000).toISOString()
  return JSON.stringify({ schema_version: 2, type, writer: 'elsewhere-7-0123456789abcdef', at, ...keys })
}

function message(
  id: string,
  parent: string,
  role: string,
  content: string,
  keys: Record<string, unknown> = {},
) {
  const place = { id, ...(parent === '' ? {} : { parent }), digest: 'd'.repeat(64) }
  return line('message', {
    ...place,
    ...keys,
    msgs: [{ role, content, ...(role === 'tool' ? { tool_call_id: 'c' } : {}) }],
  })
}

function open(lines: ReadonlyArray<string>): Conversation {
  return Conversation.open(rootWithLog(lines.map((each) => `${each}\n`).join('')), CHAT)
}

const start = () => [
  line('log', { generation: 1 }),
  line('writer', { pid: 7, hostname: 'elsewhere' }),
  message('S', '', 'system', 'system'),
  message('Q', 'S', 'user', 'question'),
  message('A', 'Q', 'assistant', 'answer'),
  message('R', 'A', 'user', 'second'),
]

describe('a log of another program', () => {
  it('is read in order, with ids, leaf and generation', () => {
    const read = open(start())
    expect(read.chain('main').map(({ id, index }) => [id, index])).toEqual([
      ...[
        ['S', 1],
        ['Q', 2],
        ['A', 3],
        ['R', 4],
      ],
    ])
    expect(read.head('main')).toMatchObject({ leaf: 'R', writer: 'elsewhere-7-0123456789abcdef' })
    expect(read.graph.generation).toBe(1)
  })

  it('has forks, rewinds, selections and retired heads', () => {
    const lines = [
      ...start(),
      line('fork', { head: 'main', new_head: 'F', from: 'Q', kind: 'fork', name: 'try' }),
    ]
    lines.push(message('X', 'Q', 'assistant', 'other', { head: 'F' }))
    expect(selectedHead(open(lines).graph)).toBe('F')
    lines.push(line('rewind', { head: 'main', to: 'A', cause: 'truncate' }))
    expect(textsOf(open(lines), 'main')).toEqual(['system', 'question', 'answer'])
    expect(textsOf(open(lines), 'F')).toEqual(['system', 'question', 'other'])
    expect(selectedHead(open(lines).graph)).toBe('main')
    lines.push(line('select', { head: 'F', reason: 'switch' }))
    expect(selectedHead(open(lines).graph)).toBe('F')
    lines.push(message('Y', 'A', 'user', 'again'))
    expect(selectedHead(open(lines).graph)).toBe('F')
    lines.push(line('rename', { head: 'main', name: 'first' }), line('retire', { head: 'F' }))
    const read = open(lines)
    expect(selectedHead(read.graph)).toBe('main')
    expect(read.head('main').name).toBe('first')
    expect(read.head('F')).toMatchObject({
      retired: true,
      kind: 'fork',
      name: 'try',
      parentHead: 'main',
      from: 'Q',
    })
    lines.push(line('retire', { head: 'main' }))
    expect(selectedHead(open(lines).graph)).toBe('main')
  })

  it('shows redactions before patches before the text, and a system text of each head, under the same ids', () => {
    const lines = [
      ...start(),
      line('patch', { target: 'Q', msgs: [{ role: 'user', content: 'patched' }] }),
      line('patch', { target: 'gone', msgs: [{ role: 'user', content: 'nothing' }] }),
      line('system', { head: 'main', msgs: [{ role: 'system', content: 'new system' }] }),
      line('fork', { head: 'main', new_head: 'F', from: 'A' }),
      line('system', { head: 'main', msgs: [{ role: 'system', content: 'newer system' }] }),
    ]
    expect(textsOf(open(lines), 'main')).toEqual(['newer system', 'patched', 'answer', 'second'])
    expect(textsOf(open(lines), 'F')).toEqual(['new system', 'patched', 'answer'])
    lines.push(
      line('redact', { targets: { Q: [{ role: 'user', content: '[redacted]' }] }, reason: 'redaction' }),
    )
    lines.push(line('patch', { target: 'Q', msgs: [{ role: 'user', content: 'patched again' }] }))
    const read = open(lines)
    expect(textsOf(read, 'main')).toEqual(['newer system', '[redacted]', 'answer', 'second'])
    expect(read.chain('main').map(({ id }) => id)).toEqual(['S', 'Q', 'A', 'R'])
  })

  it('passes over compactions and checkpoints, and makes heads that no entry made', () => {
    const read = open([
      ...start(),
      line('compaction', { head: 'main', covered_leaf: 'A', covered_count: 2, prefix_hash: 'x' }),
      line('checkpoint', { selected_head: 'main', heads: [], dropped: [], tombstones: [] }),
      message('X', 'Q', 'assistant', 'other', { head: 'nameless' }),
    ])
    expect(textsOf(read, 'nameless')).toEqual(['system', 'question', 'other'])
    expect(read.head('nameless')).toMatchObject({ parentHead: 'main', from: 'Q' })
  })

  it('keeps a message whose parent is unknown at the leaf of its head, marked as a gap', () => {
    const lines = start()
    lines.splice(4, 1)
    const read = open(lines)
    expect(textsOf(read, 'main')).toEqual(['system', 'question', 'second'])
    expect(read.items(read.chain('main'), 'whole', 'main').map(({ gap }) => gap)).toEqual([
      false,
      false,
      true,
    ])
    expect([...read.graph.gaps]).toEqual(['R'])
  })

  it('takes a second line of an id for the same message', () => {
    const lines = [...start(), message('A', 'Q', 'assistant', 'answer')]
    expect(textsOf(open(lines), 'main')).toEqual(['system', 'question', 'answer', 'second'])
    expect(open(lines).head('main').leaf).toBe('R')
    const body = lines[4]?.indexOf('"content"') ?? 0
    lines[4] = `${lines[4]?.slice(0, body)}${'?'.repeat(12)}${lines[4]?.slice(body + 12)}`
    expect(textsOf(open(lines), 'main')).toEqual(['system', 'question', 'answer', 'second'])
  })

  it('puts a message in its place that stands whole only behind those that follow it', () => {
    const batch = [
      ...[
        message('B', 'R', 'assistant', 'b'),
        message('C', 'B', 'user', 'c'),
        message('D', 'C', 'assistant', 'd'),
      ],
      line('fork', { head: 'main', new_head: 'F', from: 'C' }),
      message('E', 'C', 'assistant', 'e', { head: 'F' }),
    ]
    const whole = open([...start(), ...batch])
    for (const lost of [[0], [1], [2], [0, 1], [1, 2], [0, 1, 2]]) {
      const first = batch.map((each, at) => (lost.includes(at) ? 'what the disk made of it' : each))
      const read = open([...start(), ...first, ...batch])
      for (const head of ['main', 'F']) {
        expect({ lost, texts: textsOf(read, head) }).toEqual({ lost, texts: textsOf(whole, head) })
        const places = (each: Conversation) =>
          each.chain(head).map(({ id, index, depth, turns }) => [id, index, depth, turns])
        expect(places(read)).toEqual(places(whole))
      }
      expect([...read.graph.gaps]).toEqual([])
    }
  })

  it('puts the first message of all in its place too', () => {
    const [log = '', writer = '', first = '', ...rest] = start()
    expect(textsOf(open([log, writer, ...rest, first]), 'main')).toEqual([
      ...['system', 'question', 'answer', 'second'],
    ])
  })

  it('makes no circle of messages that name each other as parents', () => {
    const read = open([...start(), message('X', 'Y', 'user', 'x'), message('Y', 'X', 'assistant', 'y')])
    expect(textsOf(read, 'main')).toEqual(['system', 'question', 'answer', 'second', 'x', 'y'])
  })

  it('keeps every message on its branch when the name of a key in a header is damaged', () => {
    const lines = [
      ...start(),
      line('fork', { head: 'main', new_head: 'F', from: 'Q', kind: 'fork' }),
      message('X', 'Q', 'assistant', 'x', { head: 'F' }),
      message('Y', 'X', 'user', 'y', { head: 'F' }),
      message('B', 'R', 'assistant', 'b'),
    ]
    const whole = open(lines)
    for (const at of lines.keys()) {
      for (const key of ['"head":', '"parent":', '"from":', '"new_head":', '"kind":', '"writer":']) {
        // A flip of one bit: the line is still JSON, and the key one that nobody knows.
        const damaged = lines.map((each, position) =>
          position === at ? each.replace(key, key.replace('"', '"~')) : each,
        )
        const read = open(damaged)
        for (const head of ['main', 'F']) {
          const texts = textsOf(whole, head)
          expect({ at, key, texts: textsOf(read, head).filter((text) => texts.includes(text)) }).toEqual({
            at,
            key,
            texts,
          })
        }
      }
    }
  })

  it('has open turns by their ids', () => {
    const turn = (type: string, id: string) =>
      line(type, { head: 'main', turn: id, leaf: 'A', preserve_user: true })
    const lines = [...start(), turn('turn_begin', 't1'), turn('turn_begin', 't2')]
    expect([...open(lines).graph.openTurns.keys()]).toEqual(['t1', 't2'])
    expect([...open([...lines, turn('turn_end', 't1')]).graph.openTurns.keys()]).toEqual(['t2'])
    expect(open([...lines, line('turn_end', { head: 'main' })]).graph.openTurns.size).toBe(0)
  })

  it.each([
    ['an unknown type', line('weird', {}), 'log_unknown_type'],
    [
      'a later schema',
      line('message', { id: 'Z' }).replace('"schema_version":2', '"schema_version":3'),
      'log_unknown_schema',
    ],
  ])('is refused whole and left alone for %s', (_, bad, code) => {
    const root = rootWithLog([...start(), bad, ''].join('\n'))
    const before = readFileSync(logPath(root, CHAT))
    expect(() => Conversation.open(root, CHAT)).toThrow(expect.objectContaining({ code }))
    expect(readFileSync(logPath(root, CHAT)).equals(before)).toBe(true)
  })

  it('has a clear error when it holds no byte, or no message', () => {
    for (const log of ['', `${line('log', { generation: 1 })}\n`, 'no log at all\n']) {
      expect(() => Conversation.open(rootWithLog(log), CHAT)).toThrow(
        expect.objectContaining({ code: 'conversation_empty', message: expect.stringContaining(CHAT) }),
      )
    }
  })

  it('keeps times as they are', () => {
    const lines = [...start(), message('T', 'R', 'assistant', 'late', { at: AT })]
    expect(open(lines).head('main').lastActivity).toBe(AT)
  })
})

/** A tree in which message `i` hangs behind an earlier one, each on a head of its own unless it continues one. */
function treeOf(parents: ReadonlyArray<number>): Graph {
  const graph = makeGraph()
  for (const [id, choice] of parents.entries()) {
    const parent = id === 0 ? null : `m${choice % id}`
    const header = {
      id: `m${id}`,
      head: `h${id}`,
      writer: null,
      turn: null,
      at: AT,
      parent,
      fs: null,
      ws: null,
    }
    replay(graph, { type: 'message', header, role: 'user', offset: id, length: 1 })
  }
  return graph
}

describe('a path through any tree', () => {
  it('is found from any record on, and any two messages are known to be on one path or not', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(200), fc.constant(-1)), { minLength: 1, maxLength: 120 }),
        (choices) => {
          // -1: behind the message before, so that there are long paths too.
          const graph = treeOf(choices.map((choice, id) => (choice === -1 ? id - 1 : choice)))
          const path = (id: string | null): string[] =>
            id === null ? [] : [...path(graph.nodes.get(id)?.parent ?? null), id]
          const ids = [...graph.nodes.keys()]
          for (const leaf of ids.slice(-8)) {
            const whole = path(leaf)
            for (const from of [0, 2, 3, whole.length, whole.length + 1, whole.length + 9]) {
              const wanted = whole.filter((_, position) => position + 2 >= from)
              expect(chainTo(graph, leaf, from).map(({ id }) => id)).toEqual(wanted)
            }
            for (const ancestor of ids) expect(isOnPath(graph, ancestor, leaf)).toBe(whole.includes(ancestor))
            expect(isOnPath(graph, null, leaf)).toBe(true)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
