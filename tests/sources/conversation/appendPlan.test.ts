import { describe, expect, it } from 'vitest'
import { type PlanInput, planAppend, type Step } from '../../../sources/conversation/appendPlan.ts'
import { type LogEntry, stringifyEntry } from '../../../sources/conversation/entry.ts'
import { type Graph, makeGraph } from '../../../sources/conversation/graph.ts'
import { replay } from '../../../sources/conversation/replay.ts'
import { LogScanner } from '../../../sources/conversation/scan.ts'
import { TS, user } from './_messages.ts'
import { textStep } from './_store.ts'

const base = { writer: 'me', at: TS, head: 'main' } as const

function message(
  id: string,
  parent: string | null,
  rest: Partial<{ head: string; writer: string; turn: string }> = {},
) {
  const turn = rest.turn ?? null
  const place = { type: 'message', id, parent, digest: null, fs: null, ws: null } as const
  return { ...base, ...place, ...rest, turn, msgs: [user(`text of ${id}`)] } satisfies LogEntry
}

function begin(turn: string, leaf: string | null, writer: string): LogEntry {
  return { ...base, type: 'turn_begin', turn, leaf, writer, preserve_user: true }
}

/** The graph of a log with these entries, read from its bytes. */
function graphOf(entries: ReadonlyArray<LogEntry>): Graph {
  const graph = makeGraph()
  const scanner = new LogScanner(0)
  const bytes = Buffer.from(entries.map((entry) => `${stringifyEntry(entry)}\n`).join(''))
  scanner.push(bytes, (line) => replay(graph, line))
  return graph
}

function plan(entries: ReadonlyArray<LogEntry>, input: Partial<PlanInput>) {
  const {
    entries: planned,
    standing,
    concurrent,
  } = planAppend(graphOf(entries), {
    ...{ standing: { head: 'main', seen: 'b' }, steps: [textStep('n', 'new')], freshHead: 'fresh' },
    ...{ writer: 'me', at: TS, deadWriters: new Set(), ...input },
  })
  return {
    entries: planned.map((entry) => {
      if (entry.type === 'message') return `${entry.head}: ${entry.parent} <- ${entry.id}`
      if (entry.type === 'fork')
        return `${entry.kind} ${entry.new_head} of ${entry.head} behind ${entry.from}`
      if (entry.type === 'turn_begin') return `${entry.head}: begin ${entry.turn} behind ${entry.leaf}`
      return entry.type === 'turn_end' ? `end ${entry.turn}` : entry.type
    }),
    standing: `${standing.head} at ${standing.seen}`,
    concurrent: concurrent?.head ?? null,
  }
}

const ab = [message('a', null), message('b', 'a')]
const turn: ReadonlyArray<Step> = [
  { type: 'begin', turn: 't' },
  textStep('u', 'question', 't'),
  textStep('v', 'answer', 't'),
  { type: 'end', turn: 't' },
]

describe('a plan of what is appended', () => {
  it.each([
    ['goes behind the leaf that it has seen', ab, {}, ['main: b <- n'], 'main at n', null],
    ['begins a log', [], { standing: { head: 'main', seen: null } }, ['main: null <- n'], 'main at n', null],
    [
      'forks at the last shared message when others appended',
      [...ab, message('c', 'b', { writer: 'you' })],
      {},
      ['concurrent fresh of main behind b', 'fresh: b <- n'],
      'fresh at n',
      'main',
    ],
    [
      'has nothing to fork for when it has nothing to say',
      [...ab, message('c', 'b', { writer: 'you' })],
      { steps: [] },
      [],
      'main at b',
      null,
    ],
    [
      'follows once it has seen what others appended',
      [...ab, message('c', 'b', { writer: 'you' })],
      { standing: { head: 'main', seen: 'c' } },
      ['main: c <- n'],
      'main at n',
      null,
    ],
    [
      'forks at the start of an open turn of a living writer, also when it has seen its messages',
      [...ab, begin('t1', 'a', 'you')],
      {},
      ['concurrent fresh of main behind a', 'fresh: a <- n'],
      'fresh at n',
      'main',
    ],
    [
      'forks at what it has seen when the open turn began behind that',
      [...ab, message('c', 'b', { writer: 'you' }), begin('t1', 'c', 'you')],
      {},
      ['concurrent fresh of main behind b', 'fresh: b <- n'],
      'fresh at n',
      'main',
    ],
    [
      'counts a turn without a writer as one of a living writer',
      [...ab, begin('t1', 'b', '')],
      {},
      ['concurrent fresh of main behind b', 'fresh: b <- n'],
      'fresh at n',
      'main',
    ],
    [
      'goes on behind an open turn of a dead writer',
      [...ab, begin('t1', 'a', 'you')],
      { deadWriters: new Set(['you']) },
      ['main: b <- n'],
      'main at n',
      null,
    ],
    [
      'goes on in its own open turn',
      [...ab, begin('t1', 'a', 'me')],
      {},
      ['main: b <- n'],
      'main at n',
      null,
    ],
    [
      'is not stopped by a turn on another branch',
      [...ab, { ...begin('t1', 'a', 'you'), head: 'other' } as LogEntry],
      {},
      ['main: b <- n'],
      'main at n',
      null,
    ],
    [
      'forks from a branch that was retired meanwhile',
      [...ab, { ...base, type: 'retire' } as LogEntry],
      {},
      ['concurrent fresh of main behind b', 'fresh: b <- n'],
      'fresh at n',
      'main',
    ],
    [
      'begins a turn with its user message, and ends it',
      ab,
      { steps: turn },
      ['main: begin t behind b', 'main: b <- u', 'main: u <- v', 'end t'],
      'main at v',
      null,
    ],
    [
      'puts the whole turn on the fork',
      [...ab, message('c', 'b', { writer: 'you' })],
      { steps: turn },
      [
        'concurrent fresh of main behind b',
        'fresh: begin t behind b',
        'fresh: b <- u',
        'fresh: u <- v',
        'end t',
      ],
      'fresh at v',
      'main',
    ],
    [
      'passes over what a first try left there',
      [...ab, begin('t', 'b', 'me'), message('u', 'b', { turn: 't' })],
      { steps: turn },
      ['main: u <- v', 'end t'],
      'main at v',
      null,
    ],
    [
      'writes nothing when all of it is there',
      [
        ...ab,
        begin('t', 'b', 'me'),
        message('u', 'b'),
        message('v', 'u'),
        { ...base, type: 'turn_end', turn: 't' },
      ],
      { steps: turn },
      [],
      'main at v',
      null,
    ],
    [
      'forks behind its own first half when others came between two tries',
      [...ab, begin('t', 'b', 'me'), message('u', 'b'), message('x', 'u', { writer: 'you' })],
      { steps: turn },
      ['concurrent fresh of main behind u', 'fresh: u <- v', 'end t'],
      'fresh at v',
      'main',
    ],
    [
      'uses the fork that a first try made',
      [
        ...[...ab, message('c', 'b', { writer: 'you' })],
        {
          ...({ ...base, type: 'fork', new_head: 'fresh', from: 'b', kind: 'concurrent' } as const),
          ...{ name: null, checkpoint: null },
        },
      ],
      {},
      ['fresh: b <- n'],
      'fresh at n',
      'main',
    ],
    ['ends no turn that is not open', ab, { steps: [{ type: 'end', turn: 'gone' }] }, [], 'main at b', null],
  ] satisfies ReadonlyArray<
    [string, ReadonlyArray<LogEntry>, Partial<PlanInput>, string[], string, string | null]
  >)('%s', (_, log, input, entries, standing, concurrent) => {
    expect(plan(log, input)).toEqual({ entries, standing, concurrent })
  })

  describe('with the completion of a dead turn', () => {
    const steps: ReadonlyArray<Step> = [
      { ...textStep('r', 'result', 'dead'), completes: true } as Step,
      { ...textStep('s', 'notice', 'dead'), completes: true } as Step,
      { type: 'end', turn: 'dead', completes: true },
      textStep('n', 'new'),
    ]
    const dead = [...ab, begin('dead', 'a', 'you')]
    const deadWriters = new Set(['you'])

    it('completes the turn, then goes on behind it', () => {
      expect(plan(dead, { steps, deadWriters }).entries).toEqual([
        ...['main: b <- r', 'main: r <- s', 'end dead', 'main: s <- n'],
      ])
    })

    it('leaves it alone when it goes on beside the branch', () => {
      const log = [...dead, message('c', 'b', { writer: 'them' })]
      expect(plan(log, { steps, deadWriters }).entries).toEqual([
        ...['concurrent fresh of main behind b', 'fresh: b <- n'],
      ])
    })

    it('goes on with it after half of it was written', () => {
      const log = [...dead, message('r', 'b', { turn: 'dead' })]
      expect(plan(log, { steps, deadWriters }).entries).toEqual(['main: r <- s', 'end dead', 'main: s <- n'])
      const ended: LogEntry = { ...base, type: 'turn_end', turn: 'dead' }
      const more = [...log, message('s', 'r', { turn: 'dead' }), ended]
      expect(plan(more, { steps, deadWriters }).entries).toEqual(['main: s <- n'])
    })
  })
})
