import { type Checkpoint, type CheckpointContext, tryFindCheckpoint } from '../conversation/checkpoints.ts'
import { type Conversation, itemOfNode } from '../conversation/conversation.ts'
import type { ChainItem } from '../conversation/message.ts'
import { locate, matchMessageId, parseSelector, type Selector } from '../conversation/selector.ts'
import { CassError } from '../errors.ts'
import { knownBranches, openConversations } from './family.ts'
import { type FoundBranch, findBranch } from './findBranch.ts'
import { type Place, workspaceOf } from './place.ts'

/** A checkpoint that a selector names, on the branch that it was looked for on. */
export interface LocatedPlace extends FoundBranch {
  /** The branch from its root; only around the checkpoint with texts and calls. */
  readonly items: ReadonlyArray<ChainItem>
  readonly checkpoint: Checkpoint
}

/** Finds the place that a selector names. Throws what parsing, finding and locating throw. */
export function locatePlace(place: Place, text: string): LocatedPlace {
  const selector = parseSelector(text)
  const { branch, exact } =
    selector.type === 'message'
      ? branchOfMessage(place, selector.prefix)
      : { branch: findBranch(place, selector.branch), exact: selector }
  const { conversation, head } = branch
  const items = itemsAround(conversation, head, exact)
  const { checkpoint: ref } = locate(items, exact)
  const checkpoint = tryFindCheckpoint(items, ref, checkpointContext(place, conversation))
  if (checkpoint === null) {
    throw new CassError('checkpoint_not_found', `'${text}' names no checkpoint`, {
      hint: 'list them with: cass checkpoints',
    })
  }
  return { ...branch, items, checkpoint }
}

/** What checkpoints of a conversation need to know, as seen from this folder. */
export function checkpointContext(place: Place, conversation: Conversation): CheckpointContext {
  return {
    conversation: conversation.id,
    chatOfHead: (head) => conversation.chatIdOf(head),
    createdAt: conversation.meta.created_at,
    ws: workspaceOf(place).key,
  }
}

/**
 * The branch with the messages that a place needs: of the group that it stands in, the assistant's message and its results.
 * Reading all of a long branch would be most of what branching costs.
 */
function itemsAround(conversation: Conversation, head: string, selector: Selector): ChainItem[] {
  const chain = conversation.chain(head)
  const bare = chain.map((node) => itemOfNode(node, { role: node.role, content: '', ts: node.at }))
  const index =
    selector.type === 'checkpoint'
      ? selector.checkpoint.record_index
      : locate(bare, selector).checkpoint.record_index
  let start = Math.min(chain.length, Math.max(0, index - (chain[0]?.index ?? 0)))
  let end = start + 1
  while (start > 0 && chain[start]?.role === 'tool') start--
  while (chain[end]?.role === 'tool') end++
  return [
    ...bare.slice(0, start),
    ...conversation.items(chain.slice(start, end), 'outline', head),
    ...bare.slice(end),
  ]
}

/** The branch that made the one message whose id starts so, in the family or else in the folder, and the whole id. */
function branchOfMessage(
  place: Place,
  prefix: string,
): { readonly branch: FoundBranch; readonly exact: Selector } {
  const { family, others } = knownBranches(place)
  for (const [position, branches] of [family, others].entries()) {
    const { conversations } = openConversations(place, branches)
    const ids = conversations.flatMap(({ graph }) => [...graph.nodes.keys()])
    const isLast = position === 1
    if (!isLast && !ids.some((id) => id.startsWith(prefix.toUpperCase()) || id.startsWith(prefix))) continue
    const id = matchMessageId(prefix, ids)
    const conversation = conversations.find(({ graph }) => graph.nodes.has(id))
    const head = conversation?.graph.nodes.get(id)?.head
    if (conversation === undefined || head === undefined)
      throw new Error(`Assertion failed: '${id}' was matched`)
    const branch = { conversation, head, chat_id: conversation.chatIdOf(head) }
    return { branch, exact: { type: 'message', prefix: id } }
  }
  throw new Error('Assertion failed: the last group answers or throws')
}
