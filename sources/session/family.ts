import { Conversation } from '../conversation/conversation.ts'
import { type CurrentBranch, tryReadCurrentBranch } from '../conversation/currentBranch.ts'
import type { Graph } from '../conversation/graph.ts'
import { familyOf, isWithoutMessages, listConversationIds, summarize } from '../conversation/library.ts'
import { CassError } from '../errors.ts'
import { type Branch, makeBranch } from './branch.ts'
import type { Place } from './place.ts'

/** A conversation that lists leave out, and why. */
export interface Unreadable {
  readonly conversation: string
  readonly code: string
  readonly message: string
}

export interface BranchList {
  readonly branches: ReadonlyArray<Branch>
  readonly unreadable: ReadonlyArray<Unreadable>
}

/** The branches of conversations, in the order of the ids and of their making. */
export function branchesOf(
  place: Place,
  conversations: ReadonlyArray<string>,
  current: CurrentBranch | null,
): BranchList {
  const branches: Branch[] = []
  const unreadable: Unreadable[] = []
  for (const conversation of conversations) {
    try {
      const index = summarize(place.root, conversation)
      for (const record of index.heads) {
        branches.push(makeBranch(conversation, { index, record, current: current?.chat_id ?? null }))
      }
    } catch (error) {
      // What was kept of a foreign transcript would else be warned of for ever.
      if (error instanceof CassError && isWithoutMessages(place.root, conversation, error)) continue
      // One conversation that cannot be read must not hide the others; callers say which it is.
      unreadable.push(unreadableOf(conversation, error))
    }
  }
  return { branches, unreadable }
}

/** The conversations of branches, each once, in the order of the branches. */
export function openConversations(
  place: Place,
  branches: ReadonlyArray<Branch>,
): { readonly conversations: ReadonlyArray<Conversation>; readonly unreadable: ReadonlyArray<Unreadable> } {
  const conversations: Conversation[] = []
  const unreadable: Unreadable[] = []
  for (const id of new Set(branches.map(({ conversation }) => conversation))) {
    try {
      conversations.push(Conversation.open(place.root, id))
    } catch (error) {
      // The branches may be known from an index that outlives its log.
      unreadable.push(unreadableOf(id, error))
    }
  }
  return { conversations, unreadable }
}

/** Says why a conversation is left out. Throws again what is no error of reading. */
function unreadableOf(conversation: string, error: unknown): Unreadable {
  if (!(error instanceof CassError)) throw error
  return { conversation, code: error.code, message: error.message }
}

/** The branches of the current conversation's family, and those of the folder's other conversations. */
export function knownBranches(place: Place): {
  readonly family: ReadonlyArray<Branch>
  readonly others: ReadonlyArray<Branch>
} {
  const current = tryReadCurrentBranch(place.root, place.cwd)
  const ids = current === null ? [] : familyOf(place.root, current.conversation)
  const family = branchesOf(place, ids, current).branches
  const known = new Set(ids)
  const rest = listConversationIds(place.root).filter((id) => !known.has(id))
  const others = branchesOf(place, rest, current).branches.filter(({ workspace }) => workspace === place.cwd)
  return { family, others }
}

/** The names that a conversation's family has given away, but for those of retired branches. */
export function takenNames(place: Place, conversation: string): string[] {
  const { branches } = branchesOf(place, familyOf(place.root, conversation), null)
  return branches.flatMap(({ name, retired }) => (name === null || retired ? [] : [name]))
}

/** The names of a conversation's branches, as its log has them now, but for those of retired ones. */
export function liveNames(graph: Graph): string[] {
  return [...graph.heads.values()].flatMap(({ name, retired }) => (name === null || retired ? [] : [name]))
}
