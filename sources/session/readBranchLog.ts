import type { Conversation } from '../conversation/conversation.ts'
import type { Node } from '../conversation/graph.ts'
import type { ChainItem, Notice } from '../conversation/message.ts'
import { type MessageRecord, recordOfMessage } from '../conversation/record.ts'
import { findNamed } from './listCheckpoints.ts'
import type { Place } from './place.ts'

/** A record of a branch and where it stands. */
export type LoggedRecord = Placed<MessageRecord>

type Placed<R> = R extends unknown
  ? Omit<R, 'notice'> & {
      readonly message_id: string
      readonly record_index: number
      /** Set when the program wrote it, not the model and not the user. */
      readonly notice: Notice | null
    }
  : never

export interface BranchLog {
  readonly chat_id: string
  readonly conversation: string
  readonly records: ReadonlyArray<LoggedRecord>
}

/**
 * The records of a branch (null: the current one), oldest first; `last` keeps the newest. Without `all`, the system text and
 * records without any text are left out.
 */
export async function readBranchLog(
  place: Place,
  {
    branch,
    last,
    all,
  }: { readonly branch: string | null; readonly last: number | null; readonly all: boolean },
): Promise<BranchLog> {
  const { conversation, head, chat_id } = findNamed(place, branch)
  const records =
    last === null ? readAll(conversation, head, all) : readLast(conversation, { head, last, all })
  return { chat_id, conversation: conversation.id, records }
}

function readAll(conversation: Conversation, head: string, all: boolean): LoggedRecord[] {
  return readNodes(conversation, { head, nodes: conversation.chain(head), all })
}

/** Reads backwards in pieces, so that the end of a long branch costs what is shown of it. */
function readLast(
  conversation: Conversation,
  { head, last, all }: { readonly head: string; readonly last: number; readonly all: boolean },
): LoggedRecord[] {
  const chain = conversation.chain(head)
  let records: LoggedRecord[] = []
  for (let end = chain.length; end > 0 && records.length < last; ) {
    const start = Math.max(0, end - Math.max(last, 20))
    records = [...readNodes(conversation, { head, nodes: chain.slice(start, end), all }), ...records]
    end = start
  }
  return records.slice(Math.max(0, records.length - last))
}

function readNodes(
  conversation: Conversation,
  { head, nodes, all }: { readonly head: string; readonly nodes: ReadonlyArray<Node>; readonly all: boolean },
): LoggedRecord[] {
  return conversation
    .items(nodes, 'whole', head)
    .filter((item) => all || isWorthShowing(item))
    .map(loggedRecord)
}

function isWorthShowing({ message }: ChainItem): boolean {
  if (message.role === 'system') return false
  return (
    message.role !== 'assistant' || message.content.trim() !== '' || (message.tool_calls ?? []).length > 0
  )
}

/** The record of a message with its place. */
export function loggedRecord({ id, index, message }: ChainItem): LoggedRecord {
  return { ...recordOfMessage(message), message_id: id, record_index: index, notice: message.notice ?? null }
}
