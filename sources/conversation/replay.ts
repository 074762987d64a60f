import { assertNever } from '../errors.ts'
import { type ForkEntry, type LogEntry, MAIN_HEAD } from './entry.ts'
import { type Graph, type Head, isOnPath, type Node } from './graph.ts'
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
  const place = placeOf(graph, head, header)
  const parent = place.parent === null ? undefined : graph.nodes.get(place.parent)
  if (place.gap) noteGap(graph, header, place.parent)
  const node: Node = {
    id: header.id,
    parent: parent?.id ?? null,
    head: head.id,
    writer: shared(header.writer, parent?.writer),
    turn: shared(header.turn, parent?.turn),
    at: header.at,
    fs: header.fs,
    ws: shared(header.ws, parent?.ws),
    role,
    ...positionBehind(parent, role),
    gap: place.gap,
    offset,
    length,
    again: null,
  }
  graph.nodes.set(node.id, node)
  if (header.writer !== null) graph.writers.add(header.writer)
  const isLate = takeBackGaps(graph, node, head.leaf)
  if (!isLate || head.leaf === node.parent) head.leaf = node.id
  head.lastActivity = header.at
  head.lastOffset = offset
  head.writer = header.writer ?? head.writer
}

/** Most messages share these texts with the one before: one copy is kept of them, not one for each line. */
function shared<Text extends string | null>(text: Text, before: Text | undefined): Text {
  return before === text ? before : text
}

function positionBehind(
  parent: Node | undefined,
  role: Node['role'],
): Pick<Node, 'depth' | 'index' | 'turns' | 'jump'> {
  const turns = (parent?.turns ?? 0) + (role === 'user' ? 1 : 0)
  if (parent === undefined) return { depth: 0, index: role === 'system' ? 1 : 2, turns, jump: null }
  return { depth: parent.depth + 1, index: parent.index + 1, turns, jump: jumpFrom(parent) }
}

function noteGap(graph: Graph, { id, parent }: MessageHeader, instead: string | null): void {
  graph.gaps.add(id)
  if (parent === null) return
  const known = graph.lost.get(parent)
  if (known === undefined) graph.lost.set(parent, { instead, children: [id] })
  else known.children.push(id)
}

/**
 * A message that was lost is there after all, since its batch was written again after a failed sync: what went on without it
 * stands behind it. Gives whether there was such.
 */
function takeBackGaps(graph: Graph, node: Node, leaf: string | null): boolean {
  if (graph.lost.size === 0 && graph.gaps.size === 0) return false
  const missed = graph.lost.get(node.id)?.children ?? []
  graph.lost.delete(node.id)
  for (const id of missed) graph.gaps.delete(id)
  // One that came in the middle of a head stands before what leaps over more than itself.
  const leaps = leaf === null || leaf === node.parent ? [] : [...graph.gaps]
  const behind = [...missed, ...leaps].flatMap((id) => {
    const child = graph.nodes.get(id)
    const isBehind = child !== undefined && (missed.includes(id) || child.parent === node.parent)
    // A damaged parent may make a circle of them.
    return isBehind && !isOnPath(graph, id, node.id) ? [child] : []
  })
  if (behind.length === 0) return false
  for (const child of behind) {
    child.parent = node.id
    child.gap = graph.gaps.has(child.id)
  }
  const children = new Map<string | null, Node[]>()
  for (const each of graph.nodes.values()) {
    const siblings = children.get(each.parent)
    if (siblings === undefined) children.set(each.parent, [each])
    else siblings.push(each)
  }
  const moved = [node]
  for (const parent of moved) {
    for (const child of children.get(parent.id) ?? []) {
      Object.assign(child, positionBehind(parent, child.role))
      moved.push(child)
    }
  }
  return true
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
  { id, parent }: MessageHeader,
): { readonly parent: string | null; readonly gap: boolean } {
  const isKnown = parent === null ? leaf === null || graph.lost.has(id) : graph.nodes.has(parent)
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
  const lost = graph.lost.get(message)
  return lost === undefined ? (graph.heads.get(head)?.leaf ?? null) : lost.instead
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
