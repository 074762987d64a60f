import { checkConversation, type LogFinding } from '../conversation/checkLog.ts'
import { findChat, listConversationIds } from '../conversation/library.ts'
import { CassError } from '../errors.ts'
import type { Place } from './place.ts'

export interface ConversationCheck {
  readonly findings: ReadonlyArray<LogFinding>
  readonly checked: {
    readonly conversations: number
    readonly messages: number
    readonly journals: number
    readonly snapshots: number
  }
}

/** Reads conversations whole (none named: all) and tells what is damaged. Throws `conversation_not_found`. */
export async function checkConversations(
  place: Place,
  { conversations }: { readonly conversations: ReadonlyArray<string> },
): Promise<ConversationCheck> {
  const ids =
    conversations.length === 0
      ? listConversationIds(place.root)
      : conversations.map((name) => conversationOf(place, name))
  const results = ids.map((id) => checkConversation(place.root, id))
  return {
    findings: results.flatMap(({ findings }) => findings),
    checked: {
      conversations: ids.length,
      messages: results.reduce((sum, { messages }) => sum + messages, 0),
      journals: 0,
      snapshots: 0,
    },
  }
}

function conversationOf(place: Place, name: string): string {
  const found = findChat(place.root, name)
  if (found !== null) return found.conversation
  throw new CassError('conversation_not_found', `there is no conversation '${name}'`, {
    hint: 'list them with: cass chats --all',
  })
}
