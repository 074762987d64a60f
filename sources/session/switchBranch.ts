import { readCurrentBranch } from '../conversation/currentBranch.ts'
import { saveConversation } from '../conversation/save.ts'
import { CassError } from '../errors.ts'
import { countDiffering } from './countDiffering.ts'
import { findNamed } from './listCheckpoints.ts'
import { makeCurrent } from './makeCurrent.ts'
import type { Place } from './place.ts'
import { withWriter } from './withWriter.ts'

export interface Switched {
  readonly chat_id: string
  /** The branch that was current before; null for none. */
  readonly previous: string | null
  /** Tracked files that are not as the branch's tip left them; null: not known. */
  readonly files_differ: number | null
}

/**
 * Makes a branch the folder's current one. Changes no file of the user. Throws what finding throws, `branch_retired`, or
 * `current_branch_changed` when another process switched at the same moment.
 */
export async function switchBranch(place: Place, { branch }: { readonly branch: string }): Promise<Switched> {
  const seen = readCurrentBranch(place.root, place.cwd)
  const { conversation, head, chat_id } = findNamed(place, branch)
  if (conversation.head(head).retired) {
    throw new CassError('branch_retired', `the branch '${chat_id}' is retired`, {
      kind: 'refused',
      hint: 'make a new branch at one of its checkpoints: cass branch CHECKPOINT',
    })
  }
  const isNew = conversation.oldChat === null && conversation.graph.selected !== head
  if (isNew) {
    await withWriter(place, (writer) =>
      saveConversation(conversation, {
        ...{ writer, now: place.now },
        plan: () => [
          { type: 'select', head, writer: writer.id, at: place.now().toISOString(), reason: 'switch' },
        ],
      }),
    )
  }
  if (!(await makeCurrent(place, { seen, next: { chat_id, conversation: conversation.id } }))) {
    throw new CassError(
      'current_branch_changed',
      'another process switched the branch of this folder just now',
      {
        kind: 'busy',
        hint: 'look with cass branches, then switch again',
      },
    )
  }
  return {
    chat_id,
    previous: seen?.chat_id ?? null,
    files_differ: await countDiffering(place, conversation, head),
  }
}
