import { hostname } from 'node:os'
import type { Step } from '../conversation/appendPlan.ts'
import { Conversation } from '../conversation/conversation.ts'
import type { Graph, OpenTurn } from '../conversation/graph.ts'
import { completeTurn, type FileOutcome } from '../conversation/repair.ts'
import { isWriterDead } from '../conversation/writers.ts'
import type { Journal } from '../edits/journal.ts'
import { type DisplacedKeeper, type Liveness, type SettledLine, settleLines } from '../edits/unsettled.ts'
import { newMessageId, type Place } from './place.ts'
import type { TurnLog, TurnMessage } from './turnLog.ts'

/** How the journal's owner tells which lines belong to processes that died before their result was saved. */
export function livenessOf(place: Place): Liveness {
  const opened = new Map<string, Conversation | null>()
  return {
    isWriterAlive: async (writer) => !(await isWriterDead(place.root, hostname(), writer)),
    isMessageInLog: async (id, message) => {
      let conversation = opened.get(id)
      if (conversation === undefined) {
        conversation = openOrNull(place, id)
        opened.set(id, conversation)
      }
      conversation?.refresh()
      // A log that cannot be read may hold the message: its line is then left as it is.
      return conversation === null || conversation.graph.nodes.has(message)
    },
  }
}

function openOrNull(place: Place, id: string): Conversation | null {
  try {
    return Conversation.open(place.root, id)
  } catch {
    return null
  }
}

/** What a head's turns left behind when their processes died, judged before the save lock is taken. */
export interface DeadTurns {
  /** By turn id and call id. */
  readonly outcomes: ReadonlyMap<string, ReadonlyMap<string, SettledCall>>
}

interface SettledCall {
  readonly messageId: string | null
  readonly outcome: FileOutcome
}

/** Judges the journal's lines of all dead turns of a head. */
export async function judgeDeadTurns({
  place,
  conversation,
  head,
  journal,
  displaced,
  writer,
  newLineId,
  signal,
}: {
  readonly place: Place
  readonly conversation: Conversation
  readonly head: string
  readonly journal: Journal
  readonly displaced: DisplacedKeeper
  readonly writer: string
  readonly newLineId: () => string
  readonly signal: AbortSignal
}): Promise<DeadTurns> {
  const outcomes = new Map<string, ReadonlyMap<string, SettledCall>>()
  for (const { turn, writer: owner } of openTurnsOf(conversation.graph, head)) {
    if (owner === null || !(await isWriterDead(place.root, hostname(), owner))) continue
    const settled = await settleLines({
      ...{ journal, displaced, writer, turn, path: null, now: place.now, newId: newLineId },
      ...livenessOf(place),
      wait: { timeoutMs: null, signal, onWait: null },
    })
    outcomes.set(turn, settledCalls(settled))
  }
  return { outcomes }
}

function settledCalls(settled: ReadonlyArray<SettledLine>): Map<string, SettledCall> {
  const calls = new Map<string, SettledCall>()
  for (const { line, verdict } of settled) {
    if (line.tool_call_id === undefined) continue
    const outcome = verdict === 'void' ? 'unchanged' : verdict === 'stands' ? 'changed' : 'unknown'
    calls.set(line.tool_call_id, { messageId: line.message_id ?? null, outcome })
  }
  return calls
}

/**
 * Makes the steps that complete a head's dead turns: results for calls without one, the program's notice, the end mark.
 * Asked again after a save that failed half way, it gives the same messages.
 */
export function makeCompletion(place: Place, conversation: Conversation, { outcomes }: DeadTurns) {
  const completions = new Map<string, ReadonlyArray<TurnMessage>>()
  const complete = (head: string, turn: string): ReadonlyArray<TurnMessage> => {
    const calls = outcomes.get(turn) ?? new Map<string, SettledCall>()
    const files = new Map([...calls].map(([id, { outcome }]) => [id, outcome]))
    const items = tailOfTurn(conversation, head, turn)
    const ts = place.now().toISOString()
    return completeTurn(items, { notice: 'interrupted', outcomes: files, ts }).map((message) => {
      const named = calls.get(message.tool_call_id ?? '')?.messageId
      return { id: named ?? newMessageId(place), turn, message }
    })
  }
  return (log: TurnLog, graph: Graph, dead: ReadonlySet<string>): Step[] =>
    openTurnsOf(graph, log.head).flatMap(({ turn, writer }) => {
      if (writer === null || !dead.has(writer)) return []
      const messages = completions.get(turn) ?? complete(log.head, turn)
      completions.set(turn, messages)
      const steps = messages.map((message) => ({ ...log.step(message), completes: true as const }))
      return [...steps, { type: 'end', turn, completes: true }]
    })
}

function openTurnsOf(graph: Graph, head: string): OpenTurn[] {
  return [...graph.openTurns.values()].filter((open) => open.head === head)
}

/** The messages of a turn that end the branch; none when others stand behind them, then only the end mark is missing. */
function tailOfTurn(conversation: Conversation, head: string, turn: string) {
  const chain = conversation.chain(head)
  const start = chain.findLastIndex((node) => node.turn !== turn) + 1
  return conversation.items(chain.slice(start), 'whole', head)
}
