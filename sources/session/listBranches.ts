import { readCurrentBranch, tryReadCurrentBranch } from '../conversation/currentBranch.ts'
import { familyOf, listConversationIds } from '../conversation/library.ts'
import type { Branch } from './branch.ts'
import { branchesOf, type Unreadable } from './family.ts'
import type { Place } from './place.ts'

export interface ListedBranches {
  /** The chat id of the folder's current branch; null when it has none. */
  readonly current: string | null
  readonly branches: ReadonlyArray<Branch>
  readonly unreadable: ReadonlyArray<Unreadable>
}

/**
 * The branches of the current conversation's family; with `all`, of every conversation of the folder. Retired ones only
 * with `retired`. Without `all` it throws `current_branch_unreadable`.
 */
export async function listBranches(
  place: Place,
  { all, retired }: { readonly all: boolean; readonly retired: boolean },
): Promise<ListedBranches> {
  const read = all ? tryReadCurrentBranch : readCurrentBranch
  const current = read(place.root, place.cwd)
  const family = current === null ? [] : familyOf(place.root, current.conversation)
  const ids = all ? listConversationIds(place.root) : family
  const { branches, unreadable } = branchesOf(place, ids, current)
  const isListed = (branch: Branch) =>
    (retired || !branch.retired) && (branch.workspace === place.cwd || family.includes(branch.conversation))
  return { current: current?.chat_id ?? null, branches: branches.filter(isListed), unreadable }
}
