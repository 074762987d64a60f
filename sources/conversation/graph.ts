import { assertNever } from '../errors.ts'
import type { ForkCheckpoint, ForkEntry, LogEntry, LogMeta } from './entry.ts'
import type { Message, Role } from './message.ts'
import type { ScannedLine } from './scan.ts'

/** One message as the graph knows it: where it hangs and where its line is, not what it says. */
export interface Node {
  readonly id: string
  readonly parent: string | null
  /** The head that made it. */
  readonly head: string
  readonly writer: string | null
  readonly turn: string | null
  readonly at: string
  readonly fs: number | null
  readonly ws: string | null
  readonly role: Role
  /** Messages before it on its path, and user messages up to and with it. */
  readonly depth: number
  /** Its position in the transcripts that hold it: meta is 0, and 1 is kept for the system text. */
  readonly index: number
  readonly turns: number
  /** True when its parent was unknown; it was continued at the leaf that its head had then. */
  readonly gap: boolean
  /** Where its line stands in the log. */
  readonly offset: number
  readonly length: number
  /** Where it stands a second time: the same message, written again after a failed sync. */
  again: { readonly offset: number; readonly length: number } | null
}

export interface OpenTurn {
  readonly turn: string
  readonly head: string
  readonly writer: string | null
  /** The parent of the turn's user message. */
  readonly leaf: string | null
}

export interface Head {
  readonly id: string
  readonly kind: string
  readonly name: string | null
  /** The head it was forked from and the message it starts behind; null for the first one. */
  readonly parentHead: string | null
  readonly from: string | null
  readonly checkpoint: ForkCheckpoint | null
  readonly leaf: string | null
  readonly createdAt: string
  readonly lastActivity: string
  readonly lastOffset: number
  /** Who wrote its newest message. */
  readonly writer: string | null
  readonly retired: boolean
  /** A system text that replaces the chain's own (logs of other programs). */
  readonly system: Message | null
}

/** A conversation as its log tells it. Changed only by `replay`. */
export interface Graph {
  readonly nodes: Map<string, Node>
  readonly heads: Map<string, Head>
  readonly writers: Set<string>
  readonly openTurns: Map<string, OpenTurn>
  /** Every turn that was ever begun. */
  readonly turns: Set<string>
  /** Texts that replace a message's own when it is read: redactions before patches. */
  readonly patches: Map<string, Message>
  readonly redactions: Map<string, Message>
  readonly holes: Array<{ readonly offset: number; readonly length: number }>
  readonly gaps: string[]
  generation: number
  meta: LogMeta | null
  createdAt: string | null
  /** The head that was last selected, whether it still exists or not. */
  selected: string | null
}

export function makeGraph(): Graph {
  return {
    nodes: new Map(),
    heads: new Map(),
    writers: new Set(),
    openTurns: new Map(),
    turns: new Set(),
    patches: new Map(),
    redactions: new Map(),
    holes: [],
    gaps: [],
    generation: 0,
    meta: null,
    createdAt: null,
    selected: null,
  }
}

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
  const head = headAt(graph, header.head, header.at)
  const gap = header.parent !== null && !graph.nodes.has(header.parent)
  const parentId = gap ? head.leaf : header.parent
  const parent = parentId === null ? undefined : graph.nodes.get(parentId)
  if (gap) graph.gaps.push(header.id)
  graph.nodes.set(header.id, {
    id: header.id,
    parent: parent?.id ?? null,
    head: header.head,
    writer: header.writer,
    turn: header.turn,
    at: header.at,
    fs: header.fs,
    ws: header.ws,
    role,
    depth: parent === undefined ? 0 : parent.depth + 1,
    index: parent === undefined ? (role === 'system' ? 1 : 2) : parent.index + 1,
    turns: (parent?.turns ?? 0) + (role === 'user' ? 1 : 0),
    gap,
    offset,
    length,
    again: null,
  })
  if (header.writer !== null) graph.writers.add(header.writer)
  graph.heads.set(head.id, {
    ...head,
    leaf: header.id,
    lastActivity: header.at,
    lastOffset: offset,
    writer: header.writer ?? head.writer,
  })
}

function replayEntry(graph: Graph, entry: Exclude<LogEntry, { type: 'message' }>, offset: number): void {
  const change = (id: string, changed: Partial<Head>) =>
    graph.heads.set(id, { ...headAt(graph, id, entry.at), ...changed })
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
      change(entry.head, { leaf: entry.to, lastActivity: entry.at, lastOffset: offset })
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
  const from = entry.from !== null && graph.nodes.has(entry.from) ? entry.from : null
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

/** The head of that name; one that no entry made is there from its first mention on. */
function headAt(graph: Graph, id: string, at: string): Head {
  const known = graph.heads.get(id)
  if (known !== undefined) return known
  const made: Head = {
    id,
    kind: 'main',
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

/** The head a reader opens when none is named: the selected one, else the live one with the newest activity. */
export function selectedHead(graph: Graph): string {
  const chosen = graph.selected === null ? undefined : graph.heads.get(graph.selected)
  if (chosen !== undefined && !chosen.retired) return chosen.id
  const all = [...graph.heads.values()]
  const live = all.filter((head) => !head.retired)
  const newest = (live.length > 0 ? live : all).toSorted(
    (a, b) => compare(b.lastActivity, a.lastActivity) || b.lastOffset - a.lastOffset,
  )[0]
  return newest?.id ?? 'main'
}

/** The path from the root to `leaf`, oldest first; empty for null. */
export function chainTo(graph: Graph, leaf: string | null): Node[] {
  const chain: Node[] = []
  for (let id = leaf; id !== null; ) {
    const node = graph.nodes.get(id)
    if (node === undefined) break
    chain.push(node)
    id = node.parent
  }
  return chain.reverse()
}

/** Whether `ancestor` lies on the path to `leaf`, or is it. Costs the difference of their depths. */
export function isOnPath(graph: Graph, ancestor: string | null, leaf: string | null): boolean {
  if (ancestor === null) return true
  const wanted = graph.nodes.get(ancestor)
  if (wanted === undefined) return false
  let node = leaf === null ? undefined : graph.nodes.get(leaf)
  while (node !== undefined && node.depth > wanted.depth)
    node = node.parent === null ? undefined : graph.nodes.get(node.parent)
  return node?.id === ancestor
}

/** Live, not selected, and nothing of its own beside the selected head's path. */
export function isCovered(graph: Graph, head: Head): boolean {
  const selected = graph.heads.get(selectedHead(graph))
  if (selected === undefined || head.retired || selected.id === head.id) return false
  return isOnPath(graph, head.leaf, selected.leaf)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
