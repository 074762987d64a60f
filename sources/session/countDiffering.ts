import type { Conversation } from '../conversation/conversation.ts'
import { familyOf } from '../conversation/library.ts'
import { isLookOf, lookAt } from '../edits/fileState.ts'
import { Journal } from '../edits/journal.ts'
import { realPathOf } from '../edits/journalLine.ts'
import { stateAt } from '../edits/stateAt.ts'
import { type Place, workspaceOf } from './place.ts'

/**
 * How many files that the family's tools have changed are not as a branch's tip left them; null when the tip has no file
 * state in this workspace.
 */
export async function countDiffering(
  place: Place,
  conversation: Conversation,
  head: string,
): Promise<number | null> {
  const workspace = workspaceOf(place)
  const { leaf } = conversation.head(head)
  const node = leaf === null ? undefined : conversation.graph.nodes.get(leaf)
  if (node === undefined || node.fs === null || node.ws !== workspace.key) return null
  const journal = new Journal({ home: place.root, workspace })
  await journal.refresh()
  let differing = 0
  for (const file of journal.trackedPaths(new Set(familyOf(place.root, conversation.id)))) {
    const state = stateAt(journal, file, node.fs)
    const look = await lookAt(realPathOf(workspace.root, file), { keepBytes: false, maxBytes: null })
    if (state !== null && !isLookOf(look, state)) differing++
  }
  return differing
}
