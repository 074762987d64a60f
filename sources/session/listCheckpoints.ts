import { type Checkpoint, type CheckpointKind, checkpointsOf } from '../conversation/checkpoints.ts'
import { Conversation } from '../conversation/conversation.ts'
import { familyOf } from '../conversation/library.ts'
import { parseSelector } from '../conversation/selector.ts'
import { CassError } from '../errors.ts'
import { type FoundBranch, findBranch } from './findBranch.ts'
import { checkpointContext } from './locatePlace.ts'
import type { Place } from './place.ts'

export interface ListedCheckpoints {
  readonly chat_id: string
  readonly conversation: string
  readonly checkpoints: ReadonlyArray<Checkpoint>
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
  const all = family ? withFamily(place, found, listed) : listed
  const wanted = all.filter(({ kind }) => (kinds === null ? kind !== 'start' : kinds.includes(kind)))
  return {
    chat_id: found.chat_id,
    conversation: found.conversation.id,
    checkpoints: limit === null ? wanted : wanted.slice(Math.max(0, wanted.length - limit)),
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
  const items = conversation.items(conversation.chain(head), 'outline', head)
  return checkpointsOf(items, checkpointContext(place, conversation))
}

function withFamily(place: Place, found: FoundBranch, listed: ReadonlyArray<Checkpoint>): Checkpoint[] {
  const once = new Map(listed.map((checkpoint) => [checkpoint.id, checkpoint]))
  for (const id of familyOf(place.root, found.conversation.id)) {
    const conversation = id === found.conversation.id ? found.conversation : Conversation.open(place.root, id)
    for (const head of conversation.graph.heads.values()) {
      for (const checkpoint of checkpointsOfHead(place, conversation, head.id)) {
        if (!once.has(checkpoint.id)) once.set(checkpoint.id, checkpoint)
      }
    }
  }
  return [...once.values()].toSorted(
    (a, b) => a.ts.localeCompare(b.ts, 'en') || a.record_index - b.record_index,
  )
}
