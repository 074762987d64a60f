import { tryReadCurrentBranch } from '../conversation/currentBranch.ts'
import { familyOf } from '../conversation/library.ts'
import { type BranchList, branchesOf } from './family.ts'
import { findNamed } from './listCheckpoints.ts'
import type { Place } from './place.ts'

/** All branches of the family of a branch (null: the current one), retired ones left out. */
export async function readFamilyTree(
  place: Place,
  { branch }: { readonly branch: string | null },
): Promise<BranchList> {
  const { conversation } = findNamed(place, branch)
  const { branches, unreadable } = branchesOf(
    place,
    familyOf(place.root, conversation.id),
    tryReadCurrentBranch(place.root, place.cwd),
  )
  return { branches: branches.filter(({ retired }) => !retired), unreadable }
}
