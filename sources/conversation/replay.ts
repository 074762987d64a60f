import { assertNever } from '../errors.ts'
import { type ForkEntry, type LogEntry, MAIN_HEAD } from './entry.ts'
import type { Graph, Head, Node } from './graph.ts'
import type { MessageHeader, ScannedLine } from './scan.ts'

/** Takes one line into the graph (the replay rules of docs/storage.md). Total: every prefix of a log is a legal state. */
export function replay(graph: Graph, line: ScannedLine): void {
  switch (line.type) {
    case 'hole':
      graph.holes.push({ offset: line.offset, length: line.length })
      return
    case 'message':
      replayMessage(graph, line)
      return
    case 'entry':
      replayEntry(graph, line.entry, line.offset)
      return
  }
}

function replayMessage(graph: Graph, line: Extract<ScannedLine, { type: 'message' }>): void {
  const { header, role, offset, length } = line
  const known = graph.nodes.get(header.id)
  if (known !== undefined) {
    known.again = { offset, length }
    return
  }
  const head = headOfMessage(graph, header)
  const place = placeOf(graph, head, header.parent)
  const parent = place.parent === null ? undefined : graph.nodes.get(place.parent)
  if (place.gap) {
    graph.gaps.push(header.id)
    if (header.parent !== null && !graph.lost.has(header.parent)) graph.lost.set(header.parent, place.parent)
  }
  graph.nodes.set(header.id, {
    id: header.id,
    parent: parent?.id ?? null,
    head: head.id,
    writer: header.writer,
    turn: header.turn,
    at: header.at,
    fs: header.fs,
    ws: header.ws,
    role,
    depth: parent === undefined ? 0 : parent.depth + 1,
    index: parent === undefined ? (role === 'system' ? 1 : 2) : parent.index + 1,
    turns: (parent?.turns ?? 0) + (role === 'user' ? 1 : 0),
    jump: parent === undefined ? null : jumpFrom(parent),
    gap: place.gap,
    offset,
    length,
    again: null,
  })
  if (header.writer !== null) graph.writers.add(header.writer)
  head.leaf = header.id
  head.lastActivity = header.at
  head.lastOffset = offset
  head.writer = header.writer ?? head.writer
}

/** Half of the paths' lengths so far, then half of that: Myers' skew-binary jump pointers. */
function jumpFrom(parent: Node): Node {
  const near = parent.jump ?? parent
  const far = near.jump ?? near
  return parent.depth - near.depth === near.depth - far.depth ? far : parent
}

/**
 * Behind which message one goes. Whoever writes puts it behind the leaf of its head: a parent that is not there, or none on a
 * head that has messages, is a damaged line's doing.
 */
function placeOf(
  graph: Graph,
  { leaf }: Head,
  parent: string | null,
): { readonly parent: string | null; readonly gap: boolean } {
  const isKnown = parent === null ? leaf === null : graph.nodes.has(parent)
  return isKnown ? { parent, gap: false } : { parent: leaf, gap: true }
}

/** The head of a message, also when its name in the line is damaged, or the head's own line is lost. */
function headOfMessage(graph: Graph, { head: id, parent, at }: MessageHeader): Head {
  const named = graph.heads.get(id)
  const behind = parent === null ? undefined : graph.nodes.get(parent)
  if (behind === undefined || named?.leaf === behind.id) return named ?? headAt(graph, id, at)
  if (named === undefined) {
    const origin = id === MAIN_HEAD ? {} : { parentHead: behind.head, from: behind.id }
    return Object.assign(headAt(graph, id, at), origin)
  }
  if (named.leaf === null) return named
  return [...graph.heads.values()].find(({ leaf }) => leaf === behind.id) ?? named
}

function replayEntry(graph: Graph, entry: Exclude<LogEntry, { type: 'message' }>, offset: number): void {
  const change = (id: string, changed: Partial<Head>) => Object.assign(headAt(graph, id, entry.at), changed)
  switch (entry.type) {
    case 'log':
      graph.generation = entry.generation
      graph.meta ??= entry.meta
      graph.createdAt ??= entry.at
      return
    case 'writer':
      graph.writers.add(entry.writer)
      return
    case 'fork':
      replayFork(graph, entry, offset)
      return
    case 'rewind':
      change(entry.head, {
        leaf: startAt(graph, entry.head, entry.to),
        lastActivity: entry.at,
        lastOffset: offset,
      })
      return
    case 'select':
      graph.selected = entry.head
      return
    case 'rename':
      change(entry.head, { name: entry.name === '' ? null : entry.name })
      return
    case 'retire':
      change(entry.head, { retired: true })
      return
    case 'turn_begin': {
      const { turn, head, writer, leaf } = entry
      // A batch that was written again after a failed sync must not open its turn a second time.
      if (graph.turns.has(turn)) return
      graph.turns.add(turn)
      graph.openTurns.set(turn, { turn, head, writer: writer === '' ? null : writer, leaf })
      return
    }
    case 'turn_end':
      for (const open of [...graph.openTurns.values()]) {
        const ends = entry.turn === null ? open.head === entry.head : open.turn === entry.turn
        if (ends) graph.openTurns.delete(open.turn)
      }
      return
    case 'patch':
      if (graph.nodes.has(entry.target)) graph.patches.set(entry.target, entry.msgs[0])
      return
    case 'system':
      change(entry.head, { system: entry.msgs[0] })
      return
    case 'redact':
      for (const [target, message] of entry.targets) graph.redactions.set(target, message)
      return
    case 'compaction':
    case 'checkpoint':
      return
    default:
      assertNever(entry)
  }
}

function replayFork(graph: Graph, entry: ForkEntry, offset: number): void {
  if (graph.heads.has(entry.new_head)) return
  const from = startAt(graph, entry.head, entry.from)
  graph.heads.set(entry.new_head, {
    id: entry.new_head,
    kind: entry.kind,
    name: entry.name,
    parentHead: entry.head,
    from,
    checkpoint: entry.checkpoint,
    leaf: from,
    createdAt: entry.at,
    lastActivity: entry.at,
    lastOffset: offset,
    writer: null,
    retired: false,
    system: graph.heads.get(entry.head)?.system ?? null,
  })
}

/** What starts behind a message that is lost starts where that message's own branch went on. */
function startAt(graph: Graph, head: string, message: string | null): string | null {
  if (message === null || graph.nodes.has(message)) return message
  const instead = graph.lost.get(message)
  return instead === undefined ? (graph.heads.get(head)?.leaf ?? null) : instead
}

/** The head of that name; one that no entry made is there from its first mention on. */
function headAt(graph: Graph, id: string, at: string): Head {
  const known = graph.heads.get(id)
  if (known !== undefined) return known
  const made: Head = {
    id,
    kind: id === MAIN_HEAD ? 'main' : 'fork',
    name: null,
    parentHead: null,
    from: null,
    checkpoint: null,
    leaf: null,
    createdAt: at,
    lastActivity: at,
    lastOffset: 0,
    writer: null,
    retired: false,
    system: null,
  }
  graph.heads.set(id, made)
  return made
}
