import { checkBranchName } from '../conversation/branchName.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { tryReadCurrentBranch } from '../conversation/currentBranch.ts'
import { summarize } from '../conversation/library.ts'
import { saveConversation } from '../conversation/save.ts'
import { type Branch, makeBranch } from './branch.ts'
import { liveNames, takenNames } from './family.ts'
import { findNamed } from './listCheckpoints.ts'
import type { Place } from './place.ts'
import { withWriter } from './withWriter.ts'

/** Names a branch. Throws what finding throws, `bad_branch_name`, or `branch_name_taken`. */
export async function renameBranch(
  place: Place,
  { branch, name }: { readonly branch: string; readonly name: string },
): Promise<Branch> {
  const { conversation, head } = findNamed(place, branch)
  const taken = takenNames(place, conversation.id)
  checkBranchName(
    name,
    taken.filter((each) => each !== conversation.head(head).name),
  )
  await withWriter(place, (writer) =>
    saveConversation(conversation, {
      ...{ writer, now: place.now },
      plan: (graph) => {
        if (graph.heads.get(head)?.name === name) return []
        checkBranchName(name, liveNames(graph))
        return [{ type: 'rename', head, writer: writer.id, at: place.now().toISOString(), name }]
      },
    }),
  )
  return branchAfter(place, conversation, head)
}

/** The branch as lists tell it now. */
export function branchAfter(place: Place, conversation: Conversation, head: string): Branch {
  const index = summarize(place.root, conversation.id)
  const record = index.heads.find(({ id }) => id === head)
  if (record === undefined) throw new Error(`Assertion failed: branch '${head}' was just saved`)
  const current = tryReadCurrentBranch(place.root, place.cwd)?.chat_id ?? null
  return makeBranch(conversation.id, { index, record, current })
}
