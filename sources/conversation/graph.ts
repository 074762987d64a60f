import { type ForkCheckpoint, type LogMeta, MAIN_HEAD } from './entry.ts'
import type { Message, Role } from './message.ts'

/** One message as the graph knows it: where it hangs and where its line is, not what it says. */
export interface Node {
  readonly id: string
  parent: string | null
  /** The head that made it. */
  readonly head: string
  readonly writer: string | null
  readonly turn: string | null
  readonly at: string
  readonly fs: number | null
  readonly ws: string | null
  readonly role: Role
  /** Messages before it on its path, and user messages up to and with it. */
  depth: number
  /** Its position in the transcripts that hold it: meta is 0, and 1 is kept for the system text. */
  index: number
  turns: number
  /** A message before it on its path, far enough that any other is found in a few steps; null for a root. */
  jump: Node | null
  /** True when its parent was unknown; it was continued at the leaf that its head had then. */
  gap: boolean
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

/** A branch as the log tells it. Only `replay` changes it, in place: a long log has a line for each message. */
export interface Head {
  readonly id: string
  readonly kind: string
  name: string | null
  /** The head it was forked from and the message it starts behind; null for the first one. */
  readonly parentHead: string | null
  readonly from: string | null
  readonly checkpoint: ForkCheckpoint | null
  leaf: string | null
  readonly createdAt: string
  lastActivity: string
  lastOffset: number
  /** Who wrote its newest message. */
  writer: string | null
  retired: boolean
  /** A system text that replaces the chain's own (logs of other programs). */
  system: Message | null
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
  /** By the id of a message that is not there: where those that name it as their parent went on instead, and which they are. */
  readonly lost: Map<string, { readonly instead: string | null; readonly children: string[] }>
  readonly holes: Array<{ readonly offset: number; readonly length: number }>
  readonly gaps: Set<string>
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
    lost: new Map(),
    holes: [],
    gaps: new Set(),
    generation: 0,
    meta: null,
    createdAt: null,
    selected: null,
  }
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
  return newest?.id ?? MAIN_HEAD
}

/**
 * The path to `leaf` from the record index `from` (0: from the root) on, oldest first; empty for null. Costs what it gives, not
 * what is before it.
 */
export function chainTo(graph: Graph, leaf: string | null, from: number): Node[] {
  const chain: Node[] = []
  for (let id = leaf; id !== null; ) {
    const node = graph.nodes.get(id)
    if (node === undefined || node.index < from) break
    chain.push(node)
    id = node.parent
  }
  return chain.reverse()
}

/** Whether `ancestor` lies on the path to `leaf`, or is it. */
export function isOnPath(graph: Graph, ancestor: string | null, leaf: string | null): boolean {
  if (ancestor === null) return true
  const wanted = graph.nodes.get(ancestor)
  if (wanted === undefined) return false
  let node = leaf === null ? undefined : graph.nodes.get(leaf)
  while (node !== undefined && node.depth > wanted.depth) {
    if (node.jump !== null && node.jump.depth >= wanted.depth) node = node.jump
    else node = node.parent === null ? undefined : graph.nodes.get(node.parent)
  }
  return node?.id === ancestor
}

/** Whether a head is live, not the selected one, and has nothing beside the selected one's path. */
export function isCovered(graph: Graph, head: Head, selected: string): boolean {
  if (head.retired || selected === head.id) return false
  return isOnPath(graph, head.leaf, graph.heads.get(selected)?.leaf ?? null)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
