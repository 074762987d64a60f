import { type Checkpoint, type CheckpointKind, checkpointsOf } from '../conversation/checkpoints.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { familyOf } from '../conversation/library.ts'
import { parseSelector } from '../conversation/selector.ts'
import { timeOf } from '../conversation/timestamp.ts'
import { CassError } from '../errors.ts'
import { branchesOf, openConversations, type Unreadable } from './family.ts'
import { type FoundBranch, findBranch } from './findBranch.ts'
import { checkpointContext } from './locatePlace.ts'
import type { Place } from './place.ts'

export interface ListedCheckpoints {
  readonly chat_id: string
  readonly conversation: string
  readonly checkpoints: ReadonlyArray<Checkpoint>
  /** Conversations of the family that are left out. */
  readonly unreadable: ReadonlyArray<Unreadable>
}

/**
 * The checkpoints of a branch (null: the current one), oldest first; with `family`, those of the family's other branches
 * too, shared ones once. The start is listed only when its kind is asked for. `limit` keeps the newest.
 */
export async function listCheckpoints(
  place: Place,
  {
    branch,
    family,
    kinds,
    limit,
  }: {
    readonly branch: string | null
    readonly family: boolean
    readonly kinds: ReadonlyArray<CheckpointKind> | null
    readonly limit: number | null
  },
): Promise<ListedCheckpoints> {
  const found = findNamed(place, branch)
  const listed = checkpointsOfHead(place, found.conversation, found.head)
  const { checkpoints: all, unreadable } = family
    ? withFamily(place, found, listed)
    : { checkpoints: listed, unreadable: [] }
  const wanted = all.filter(({ kind }) => (kinds === null ? kind !== 'start' : kinds.includes(kind)))
  return {
    chat_id: found.chat_id,
    conversation: found.conversation.id,
    checkpoints: limit === null ? wanted : wanted.slice(Math.max(0, wanted.length - limit)),
    unreadable,
  }
}

/** The branch that a command's argument names; without one the current branch. */
export function findNamed(place: Place, branch: string | null): FoundBranch {
  const selector = parseSelector(branch ?? '@')
  if (selector.type === 'branch') return findBranch(place, selector.branch)
  throw new CassError('bad_selector', `'${branch}' names a place, and a branch is wanted here`, {
    kind: 'usage',
    hint: 'give a chat id, a name, or @ for the current branch',
  })
}

function checkpointsOfHead(place: Place, conversation: Conversation, head: string): Checkpoint[] {
  const items = conversation.itemsOneByOne(conversation.chain(head), 'outline', head)
  return checkpointsOf(items, checkpointContext(place, conversation))
}

function withFamily(
  place: Place,
  found: FoundBranch,
  listed: ReadonlyArray<Checkpoint>,
): Pick<ListedCheckpoints, 'checkpoints' | 'unreadable'> {
  const once = new Map(listed.map((checkpoint) => [checkpoint.id, checkpoint]))
  const listedBranches = branchesOf(place, familyOf(place.root, found.conversation.id), null)
  const { conversations, unreadable } = openConversations(place, listedBranches.branches)
  for (const conversation of conversations) {
    for (const head of conversation.graph.heads.keys()) {
      for (const checkpoint of checkpointsOfHead(place, conversation, head)) {
        if (!once.has(checkpoint.id)) once.set(checkpoint.id, checkpoint)
      }
    }
  }
  const checkpoints = [...once.values()].toSorted(
    (a, b) => timeOf(a.ts) - timeOf(b.ts) || a.record_index - b.record_index,
  )
  return { checkpoints, unreadable: [...listedBranches.unreadable, ...unreadable] }
}
