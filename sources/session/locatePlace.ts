import { type Checkpoint, type CheckpointContext, tryFindCheckpoint } from '../conversation/checkpoints.ts'
import { Conversation } from '../conversation/conversation.ts'
import { readCurrentBranch } from '../conversation/currentBranch.ts'
import { familyOf } from '../conversation/library.ts'
import type { ChainItem } from '../conversation/message.ts'
import { locate, matchMessageId, parseSelector, type Selector } from '../conversation/selector.ts'
import { CassError } from '../errors.ts'
import { type FoundBranch, findBranch } from './findBranch.ts'
import { type Place, workspaceOf } from './place.ts'

/** A checkpoint that a selector names, on the branch that it was looked for on. */
export interface LocatedPlace extends FoundBranch {
  /** The branch from its root, long texts cut. */
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
  const items = conversation.items(conversation.chain(head), 'outline', head)
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

/** The branch that made the one message of the family whose id starts so, and the selector with the whole id. */
function branchOfMessage(
  place: Place,
  prefix: string,
): { readonly branch: FoundBranch; readonly exact: Selector } {
  const current = readCurrentBranch(place.root, place.cwd)
  if (current === null)
    return { branch: findBranch(place, { type: 'current' }), exact: { type: 'message', prefix } }
  const family = familyOf(place.root, current.conversation).map((id) => Conversation.open(place.root, id))
  const ids = family.flatMap(({ graph }) => [...graph.nodes.keys()])
  const id = matchMessageId(prefix, ids)
  const conversation = family.find(({ graph }) => graph.nodes.has(id))
  const head = conversation?.graph.nodes.get(id)?.head
  if (conversation === undefined || head === undefined)
    throw new Error(`Assertion failed: '${id}' was matched`)
  const branch = { conversation, head, chat_id: conversation.chatIdOf(head) }
  return { branch, exact: { type: 'message', prefix: id } }
}
