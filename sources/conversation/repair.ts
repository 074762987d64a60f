import { CassError } from '../errors.ts'
import { type CheckpointRef, positionOf } from './checkpoints.ts'
import { matchResults } from './groups.ts'
import type { ChainItem, Message, ToolCall } from './message.ts'

/** Where a branch starts that is made at a checkpoint, and what it must get at once. */
export interface ForkPoint {
  /** The message it starts behind; null: before the first. */
  readonly from: string | null
  /** How many messages of the chain it shares. */
  readonly shared: number
  /** The place in the journal of `from`, which the synthetic results take too. */
  readonly fs: number | null
  readonly ws: string | null
  /** Results of the calls that have none on the new branch, in call order. */
  readonly synthetic: ReadonlyArray<Message>
  /** The ids of those calls. */
  readonly repaired: ReadonlyArray<string>
}

/** What the journal knows of the file that an unfinished call would have changed. */
export type FileOutcome = 'changed' | 'unchanged' | 'unknown'

const NOT_RUN = 'This call was not run on this branch: the branch starts before it.'
/** The two first sentences are known to other programs that read transcripts. */
const TEXTS = {
  cancelled: { result: 'Tool execution cancelled by user.', turn: 'Turn cancelled by user.' },
  interrupted: {
    result: 'The program ended before the result of this call was stored.',
    turn: 'The turn was interrupted: the program ended before the turn did. What was done until then stays.',
  },
}
const OUTCOMES: Readonly<Record<FileOutcome, string>> = {
  changed: ' The file was changed by it.',
  unchanged: ' No file was changed by it.',
  unknown: ' Whether it changed a file is not known.',
}

/**
 * Where a branch at `checkpoint` starts: behind its message, or, at a tool call, behind the results of the calls
 * before it in the same assistant message. `ts` is the time of the synthetic results.
 */
export function forkPoint(items: ReadonlyArray<ChainItem>, checkpoint: CheckpointRef, ts: string): ForkPoint {
  const shared = sharedLength(items, checkpoint)
  const last = items[shared - 1]
  const pending = pendingCalls(items.slice(0, shared))
  return {
    from: last?.id ?? null,
    shared,
    fs: last?.fs ?? null,
    ws: last?.ws ?? null,
    synthetic: pending.map((call) => resultFor(call, { notice: 'not_run', content: NOT_RUN, ts })),
    repaired: pending.map(({ id }) => id),
  }
}

function sharedLength(items: ReadonlyArray<ChainItem>, checkpoint: CheckpointRef): number {
  const { kind, record_index, tool_call_id } = checkpoint
  if (kind === 'start') return items[0]?.message.role === 'system' ? 1 : 0
  const position = positionOf(items, record_index)
  const message = items[position]?.message
  if (message === undefined) throw noSuchPlace(checkpoint)
  if (kind !== 'tool_call') {
    const role = kind === 'tool_result' ? 'tool' : kind
    const isIt =
      message.role === role && (kind !== 'tool_result' || (message.tool_call_id ?? '') === tool_call_id)
    if (!isIt) throw noSuchPlace(checkpoint)
    return position + 1
  }
  const calls = message.tool_calls ?? []
  const own = calls.findIndex(({ id }) => id === tool_call_id)
  if (message.role !== 'assistant' || own === -1) throw noSuchPlace(checkpoint)
  const before = new Set(calls.slice(0, own).map(({ id }) => id))
  let shared = position + 1
  while (isResultOf(items[shared]?.message, before)) shared++
  return shared
}

function isResultOf(message: Message | undefined, calls: ReadonlySet<string>): boolean {
  return message?.role === 'tool' && calls.has(message.tool_call_id ?? '')
}

function noSuchPlace({ record_index, kind, tool_call_id }: CheckpointRef): CassError {
  const call = tool_call_id === null ? '' : `:${tool_call_id}`
  return new CassError(
    'checkpoint_not_found',
    `the branch has no checkpoint '${record_index}:${kind}${call}'`,
    {
      hint: 'list the checkpoints with cass checkpoints',
    },
  )
}

/** The calls of the chain's last assistant message that its tail does not answer, in call order. */
export function pendingCalls(items: ReadonlyArray<ChainItem>): ReadonlyArray<ToolCall> {
  let start = items.length - 1
  while (items[start]?.message.role === 'tool') start--
  const calls = items[start]?.message.tool_calls ?? []
  const answers = matchResults(
    calls,
    items.slice(start + 1).map(({ message }) => message),
  )
  return calls.filter((_, position) => answers[position] === null)
}

/**
 * The messages that complete a turn that was cancelled or died: a result for each call that has none, and the
 * program's notice. Nothing for a turn that is complete, so doing it twice does it once. `items` are the messages of
 * the turn; `outcomes` tells by call id what is known of the file of a call. An interrupted turn whose last message
 * is the model's final answer lacks only its end mark.
 */
export function completeTurn(
  items: ReadonlyArray<ChainItem>,
  {
    notice,
    outcomes,
    ts,
  }: {
    readonly notice: 'cancelled' | 'interrupted'
    readonly outcomes: ReadonlyMap<string, FileOutcome>
    readonly ts: string
  },
): ReadonlyArray<Message> {
  const last = items.at(-1)?.message
  if (last === undefined) return []
  const isAnswer = last.role === 'assistant' && (last.tool_calls ?? []).length === 0
  if (isAnswer && (last.notice !== undefined || notice === 'interrupted')) return []
  const { result, turn } = TEXTS[notice]
  const results = pendingCalls(items).map((call) => {
    const outcome = outcomes.get(call.id)
    const content = outcome === undefined ? result : `${result}${OUTCOMES[outcome]}`
    return resultFor(call, { notice, content, ts })
  })
  return [...results, { role: 'assistant', content: turn, notice, ts }]
}

function resultFor(
  { id, name }: ToolCall,
  { notice, content, ts }: Required<Pick<Message, 'notice' | 'content' | 'ts'>>,
): Message {
  return { role: 'tool', content, tool_call_id: id, name, ok: false, notice, ts }
}
