import { checkBranchName } from '../conversation/branchName.ts'
import type { Checkpoint } from '../conversation/checkpoints.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { tryReadCurrentBranch } from '../conversation/currentBranch.ts'
import type { LogEntry } from '../conversation/entry.ts'
import { type Graph, selectedHead } from '../conversation/graph.ts'
import { makeHeadsIndex } from '../conversation/headsIndex.ts'
import { type ForkPoint, forkPoint } from '../conversation/repair.ts'
import { saveConversation } from '../conversation/save.ts'
import { type Branch, makeBranch } from './branch.ts'
import { liveNames, takenNames } from './family.ts'
import { locatePlace } from './locatePlace.ts'
import { makeCurrent } from './makeCurrent.ts'
import { newChatId, newMessageId, type Place } from './place.ts'
import { withWriter } from './withWriter.ts'

export interface CreatedBranch extends Branch {
  /** Tool calls that have no result on the new branch and got one that says so. */
  readonly repaired: ReadonlyArray<string>
  /** The branch that the checkpoint is on, and the checkpoint's label. */
  readonly from: string
  readonly label: string
}

/**
 * Makes a branch at a checkpoint; the one it comes from stays byte for byte. Throws what locating throws,
 * `bad_branch_name`, `branch_name_taken`, or what saving throws.
 */
export async function createBranch(
  place: Place,
  {
    checkpoint: spec,
    name,
    switchTo,
  }: { readonly checkpoint: string; readonly name: string | null; readonly switchTo: boolean },
): Promise<CreatedBranch> {
  const seen = tryReadCurrentBranch(place.root, place.cwd)
  const { conversation, items, checkpoint } = locatePlace(place, spec)
  if (name !== null) checkBranchName(name, takenNames(place, conversation.id))
  const point = forkPoint(items, checkpoint, place.now().toISOString())
  const head = newChatId(place)
  const ids = point.synthetic.map(() => newMessageId(place))
  return withWriter(place, async (writer) => {
    const now = place.now
    const plan = (graph: Graph) =>
      planFork(graph, {
        conversation,
        checkpoint,
        point,
        ids,
        head,
        name,
        switchTo,
        writer: writer.id,
        at: now().toISOString(),
      })
    await saveConversation(conversation, { writer, now, plan })
    const next = { chat_id: head, conversation: conversation.id }
    const isCurrent = switchTo && (await makeCurrent(place, { seen, next }))
    const index = makeHeadsIndex(conversation, {
      previous: null,
      writer: writer.id,
      now: now().toISOString(),
    })
    const record = index.heads.find(({ id }) => id === head)
    if (record === undefined) throw new Error(`Assertion failed: branch '${head}' was saved`)
    return {
      ...makeBranch(conversation.id, { index, record, current: isCurrent ? head : (seen?.chat_id ?? null) }),
      ...{ repaired: point.repaired, from: checkpoint.chat_id, label: checkpoint.label },
    }
  })
}

interface ForkRequest {
  readonly conversation: Conversation
  readonly checkpoint: Checkpoint
  readonly point: ForkPoint
  readonly ids: ReadonlyArray<string>
  readonly head: string
  readonly name: string | null
  readonly switchTo: boolean
  readonly writer: string
  readonly at: string
}

function planFork(graph: Graph, request: ForkRequest): LogEntry[] {
  const { conversation, checkpoint, point, ids, head, name, switchTo, writer, at } = request
  const { record_index, tool_call_id, label, detail } = checkpoint
  // Another process may have given the name away since it was asked for.
  if (name !== null && !graph.heads.has(head)) checkBranchName(name, liveNames(graph))
  const parent = conversation.headOf(checkpoint.chat_id)
  const selected = selectedHead(graph)
  const entries: LogEntry[] = []
  if (!graph.heads.has(head)) {
    entries.push({
      ...{ type: 'fork', head: parent, writer, at, new_head: head, from: point.from, kind: 'fork', name },
      checkpoint: {
        record_index,
        ...(tool_call_id === null ? {} : { tool_call_id }),
        label: detail === '' ? label : `${label}: ${detail}`,
      },
    })
  }
  for (const [position, message] of point.synthetic.entries()) {
    const id = ids[position]
    if (id === undefined || graph.nodes.has(id)) continue
    const before = position === 0 ? point.from : (ids[position - 1] ?? null)
    const { fs, ws } = point
    entries.push({
      type: 'message',
      id,
      head,
      writer,
      turn: null,
      at,
      parent: before,
      digest: null,
      fs,
      ws,
      msgs: [message],
    })
  }
  if (switchTo) entries.push({ type: 'select', head, writer, at, reason: 'fork' })
  // Else a reader that goes by the newest activity would open the new branch.
  else if (graph.selected === null)
    entries.push({ type: 'select', head: selected, writer, at, reason: 'select' })
  return entries
}
