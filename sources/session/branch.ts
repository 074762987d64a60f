import type { HeadRecord, HeadsIndex } from '../conversation/headsIndex.ts'

/** A branch as commands print it (docs/plumbing.md). */
export interface Branch {
  readonly chat_id: string
  readonly conversation: string
  readonly kind: string
  readonly name: string | null
  readonly parent: string | null
  readonly branch_from: {
    readonly chat_id: string
    readonly record_index: number
    readonly message_id: string | null
    readonly tool_call_id: string | null
    readonly checkpoint_label: string
  } | null
  readonly current: boolean
  readonly covered: boolean
  readonly retired: boolean
  readonly records: number
  readonly turns: number
  readonly open_turn: boolean
  readonly created_at: string
  readonly last_activity: string
  readonly preview: string
  readonly workspace: string
}

/** The branch of a head, from the index of its conversation. `current` is the folder's current chat. */
export function makeBranch(
  conversation: string,
  {
    index,
    record,
    current,
  }: { readonly index: HeadsIndex; readonly record: HeadRecord; readonly current: string | null },
): Branch {
  const chatId = chatIdOf(conversation, record.id)
  const from = record.branch_from
  const parent =
    record.parent_head === undefined ? index.meta.parent_chat_id : chatIdOf(conversation, record.parent_head)
  return {
    chat_id: chatId,
    conversation,
    kind: record.kind,
    name: record.name ?? null,
    parent: parent ?? null,
    branch_from:
      from === undefined
        ? null
        : {
            chat_id: from.chat_id,
            record_index: from.record_index,
            message_id: record.fork_from ?? null,
            tool_call_id: from.tool_call_id ?? null,
            checkpoint_label: from.checkpoint_label,
          },
    current: chatId === current,
    covered: record.covered ?? false,
    retired: record.retired ?? false,
    records: record.records,
    turns: record.turns,
    open_turn: record.open_turn ?? false,
    created_at:
      record.parent_head === undefined ? index.meta.created_at || record.created_at : record.created_at,
    last_activity: record.last_activity,
    preview: record.preview ?? '',
    workspace: index.meta.cwd,
  }
}

/** The chat id of a head: the first one's is the conversation's id, every other head is named by its own. */
export function chatIdOf(conversation: string, head: string): string {
  return head === 'main' ? conversation : head
}
