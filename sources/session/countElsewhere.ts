import { listConversationIds } from '../conversation/library.ts'
import { CassError } from '../errors.ts'
import { isInside } from '../workspace/policy.ts'
import { findWorkspace } from '../workspace/root.ts'
import { branchesOf } from './family.ts'
import { type Place, workspaceOf } from './place.ts'

/**
 * How many conversations belong to other folders of the place's workspace. Lists are by folder, so one that is empty in a
 * subfolder of a repository does not mean that nothing was said there.
 */
export function countElsewhere(place: Place): number {
  const { root } = workspaceOf(place)
  const { branches } = branchesOf(place, listConversationIds(place.root), null)
  const folders = new Map(branches.map(({ conversation, workspace }) => [conversation, workspace]))
  const isElsewhere = (folder: string) =>
    folder !== place.cwd && isInside(folder, root) && rootOf(folder) === root
  return [...folders.values()].filter(isElsewhere).length
}

/** Null: the folder is gone. */
function rootOf(folder: string): string | null {
  try {
    return findWorkspace(folder).root
  } catch (error) {
    if (error instanceof CassError) return null
    throw error
  }
}
