import type { Conversation } from '../conversation/conversation.ts'
import { isCurrentAnywhere } from '../conversation/currentBranch.ts'
import { saveConversation } from '../conversation/save.ts'
import { CassError } from '../errors.ts'
import type { Branch } from './branch.ts'
import { findNamed } from './listCheckpoints.ts'
import type { Place } from './place.ts'
import { branchAfter } from './renameBranch.ts'
import { withWriter } from './withWriter.ts'

/** A branch that somebody wrote to this recently may be in use by a process that holds nothing now, in milliseconds. */
const quietMs = 60_000

/**
 * Takes a branch out of lists. Only one that has nothing of its own: throws `branch_not_empty` or `branch_is_current`
 * (refused), `branch_busy` for one that was active in the last minute, or what finding throws.
 */
export async function retireBranch(place: Place, { branch }: { readonly branch: string }): Promise<Branch> {
  const { conversation, head, chat_id } = findNamed(place, branch)
  await withWriter(place, (writer) =>
    saveConversation(conversation, {
      ...{ writer, now: place.now },
      plan: () => {
        if (conversation.head(head).retired) return []
        refuse(place, { conversation, head, chatId: chat_id })
        return [{ type: 'retire', head, writer: writer.id, at: place.now().toISOString() }]
      },
    }),
  )
  return branchAfter(place, conversation, head)
}

function refuse(
  place: Place,
  {
    conversation,
    head,
    chatId,
  }: { readonly conversation: Conversation; readonly head: string; readonly chatId: string },
): void {
  if (head === 'main' || hasOwnMessages(conversation, head)) {
    throw new CassError(
      'branch_not_empty',
      `the branch '${chatId}' holds messages that no other branch has`,
      {
        kind: 'refused',
        hint: 'only a branch without messages of its own can be retired',
      },
    )
  }
  if (isCurrentAnywhere(place.root, chatId)) {
    throw new CassError('branch_is_current', `the branch '${chatId}' is the current one of a folder`, {
      kind: 'refused',
      hint: 'switch that folder to another branch first: cass switch BRANCH',
    })
  }
  const { lastActivity } = conversation.head(head)
  const quiet = place.now().getTime() - Date.parse(lastActivity)
  const isOpen = [...conversation.graph.openTurns.values()].some((open) => open.head === head)
  if (isOpen || quiet < quietMs) {
    throw new CassError('branch_busy', `the branch '${chatId}' was active less than a minute ago`, {
      kind: 'busy',
      hint: 'try again in a minute',
    })
  }
}

/** Results that the program made for calls that were not run are nothing of one's own. */
function hasOwnMessages(conversation: Conversation, head: string): boolean {
  const own = conversation.chain(head).filter((node) => node.head === head)
  return conversation.items(own, 'outline', head).some(({ message }) => message.notice !== 'not_run')
}
