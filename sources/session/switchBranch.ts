import type { Conversation } from '../conversation/conversation.ts'
import { tryReadCurrentBranch } from '../conversation/currentBranch.ts'
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
  const seen = tryReadCurrentBranch(place.root, place.cwd)
  const { conversation, head, chat_id } = findNamed(place, branch)
  const next = { chat_id, conversation: conversation.id }
  let isChosen = false
  try {
    await withWriter(place, (writer) =>
      saveConversation(conversation, {
        ...{ writer, now: place.now },
        // Both under the save lock, under which branches are retired too: a retired one never becomes current.
        plan: async (graph) => {
          refuseRetired(conversation, head)
          await choose(place, { seen, next })
          isChosen = true
          if (conversation.oldChat !== null || graph.selected === head) return []
          return [
            { type: 'select', head, writer: writer.id, at: place.now().toISOString(), reason: 'switch' },
          ]
        },
      }),
    )
  } catch (error) {
    // Who hears that a switch failed is where they were.
    if (isChosen && seen !== null) await makeCurrent(place, { seen: next, next: seen })
    throw error
  }
  return {
    chat_id,
    previous: seen?.chat_id ?? null,
    files_differ: await countDiffering(place, conversation, head),
  }
}

function refuseRetired(conversation: Conversation, head: string): void {
  if (!conversation.head(head).retired) return
  throw new CassError('branch_retired', `the branch '${conversation.chatIdOf(head)}' is retired`, {
    kind: 'refused',
    hint: 'make a new branch at one of its checkpoints: cass branch CHECKPOINT',
  })
}

async function choose(place: Place, change: Parameters<typeof makeCurrent>[1]): Promise<void> {
  if (await makeCurrent(place, change)) return
  throw new CassError(
    'current_branch_changed',
    'another process switched the branch of this folder just now',
    { kind: 'busy', hint: 'look with cass branches, then switch again' },
  )
}
