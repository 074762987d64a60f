import { assertNever } from '../errors.ts'
import type { LogEntry } from './entry.ts'
import { type Graph, isOnPath, type OpenTurn } from './graph.ts'
import type { Message } from './message.ts'

/** One thing to save. Ids are made once, so that a second try after a failure writes the same. */
export type Step =
  /** A turn begins behind the message `leaf`; omitted: where the branch stands. */
  | { readonly type: 'begin'; readonly turn: string; readonly leaf?: string | null }
  | {
      readonly type: 'message'
      readonly id: string
      readonly turn: string | null
      readonly fs: number | null
      readonly ws: string | null
      readonly message: Message
      /** Completes a turn whose process died: written only where that turn stands. */
      readonly completes?: true
    }
  | { readonly type: 'end'; readonly turn: string; readonly completes?: true }

/** Where a process stands in a branch: its head and the last message of it that it has read. */
export interface Standing {
  readonly head: string
  readonly seen: string | null
}

export interface PlanInput {
  readonly standing: Standing
  readonly steps: ReadonlyArray<Step>
  /** The head that is started if the standing's cannot be continued. */
  readonly freshHead: string
  readonly writer: string
  readonly at: string
  /** Writers, other than this one, that are known to be dead. */
  readonly deadWriters: ReadonlySet<string>
}

export interface AppendPlan {
  readonly entries: ReadonlyArray<LogEntry>
  readonly standing: Standing
  /** Set when another process had added to the head: that head, and who wrote, if the log names it. */
  readonly concurrent: { readonly head: string; readonly writer: string | null } | null
}

/**
 * Decides, under the save lock, where messages go (docs/storage.md, several writers): behind the leaf while it is
 * still the one this process has seen; else on a fresh `concurrent` head at the last shared message. What is in the
 * log already, from a first try that failed half way, is passed over.
 */
export function planAppend(graph: Graph, input: PlanInput): AppendPlan {
  const { steps, writer, at } = input
  const entries: LogEntry[] = []
  let standing = input.standing
  let concurrent: AppendPlan['concurrent'] = null
  let isPlaced = false
  /** Before the first thing that must stand behind the leaf: the leaf may no longer be ours to continue. */
  const place = () => {
    if (isPlaced) return
    isPlaced = true
    const obstacle = obstacleAt(graph, standing, input)
    if (obstacle === null) return
    concurrent = { head: standing.head, writer: obstacle.writer }
    entries.push(...forkTo(graph, standing.head, obstacle.from, input))
    standing = { head: input.freshHead, seen: obstacle.from }
  }
  const isBeside = () => (isPlaced ? concurrent : obstacleAt(graph, standing, input)) !== null
  for (const step of steps) {
    // Who goes on beside a branch does not append to it, so its dead turn is left to the one who does.
    if (step.type !== 'begin' && step.completes === true && !isThere(graph, step) && isBeside()) continue
    switch (step.type) {
      case 'begin': {
        if (graph.turns.has(step.turn)) break
        place()
        const leaf = step.leaf === undefined ? standing.seen : step.leaf
        entries.push({
          type: 'turn_begin',
          head: standing.head,
          writer,
          at,
          turn: step.turn,
          leaf,
          preserve_user: true,
        })
        break
      }
      case 'message': {
        const { id, turn, fs, ws, message } = step
        const there = graph.nodes.get(id)
        if (there === undefined) {
          place()
          const { head, seen } = standing
          entries.push({
            type: 'message',
            id,
            head,
            writer,
            turn,
            at,
            parent: seen,
            digest: null,
            fs,
            ws,
            msgs: [message],
          })
        }
        standing = { head: there?.head ?? standing.head, seen: id }
        break
      }
      case 'end': {
        const { turn } = step
        const begins = entries.some((entry) => entry.type === 'turn_begin' && entry.turn === turn)
        if (begins || graph.openTurns.has(turn))
          entries.push({ type: 'turn_end', head: standing.head, writer, at, turn })
        break
      }
      default:
        assertNever(step)
    }
  }
  return { entries, standing, concurrent }
}

function isThere(graph: Graph, step: Exclude<Step, { type: 'begin' }>): boolean {
  return step.type === 'message' ? graph.nodes.has(step.id) : !graph.openTurns.has(step.turn)
}

function forkTo(
  graph: Graph,
  head: string,
  from: string | null,
  { freshHead, writer, at }: PlanInput,
): LogEntry[] {
  if (graph.heads.has(freshHead)) return []
  const named = { name: null, checkpoint: null }
  return [{ type: 'fork', head, writer, at, new_head: freshHead, from, kind: 'concurrent', ...named }]
}

/** Why nothing can go behind the head's leaf, and where it branches off instead; null when it can. */
function obstacleAt(
  graph: Graph,
  { head, seen }: Standing,
  { writer, deadWriters }: PlanInput,
): { readonly from: string | null; readonly writer: string | null } | null {
  const there = graph.heads.get(head)
  if (there === undefined) return null
  const foreign = [...graph.openTurns.values()].find(
    (open) => open.head === head && isForeign(open, writer, deadWriters),
  )
  if (foreign !== undefined) {
    return { from: isOnPath(graph, foreign.leaf, seen) ? foreign.leaf : seen, writer: foreign.writer }
  }
  return there.retired || there.leaf !== seen ? { from: seen, writer: there.writer } : null
}

function isForeign(open: OpenTurn, writer: string, deadWriters: ReadonlySet<string>): boolean {
  return open.writer !== writer && (open.writer === null || !deadWriters.has(open.writer))
}
