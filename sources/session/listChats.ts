import { Conversation } from '../conversation/conversation.ts'
import { tryReadCurrentBranch } from '../conversation/currentBranch.ts'
import { listConversationIds, summarize } from '../conversation/library.ts'
import { timeOf } from '../conversation/timestamp.ts'
import type { Branch } from './branch.ts'
import { branchesOf, type Unreadable } from './family.ts'
import type { Place } from './place.ts'

/** One conversation in a list. */
export interface Chat {
  /** Of its current branch here, else of its newest one. */
  readonly chat_id: string
  readonly conversation: string
  readonly created_at: string
  readonly last_activity: string
  readonly model: string
  readonly workspace: string
  readonly branches: number
  readonly records: number
  readonly preview: string
}

export interface ListedChats {
  readonly chats: ReadonlyArray<Chat>
  readonly unreadable: ReadonlyArray<Unreadable>
}

/**
 * The conversations of the folder, with `all` of every folder; newest activity first. `search` keeps those of which a
 * message contains the text, whatever the case of its letters.
 */
export async function listChats(
  place: Place,
  { all, search }: { readonly all: boolean; readonly search: string | null },
): Promise<ListedChats> {
  const current = tryReadCurrentBranch(place.root, place.cwd)
  const { branches, unreadable } = branchesOf(place, listConversationIds(place.root), current)
  const chats = byConversation(branches)
    .filter((rows) => all || rows[0]?.workspace === place.cwd)
    .flatMap((rows) => chatOf(place, rows) ?? [])
    .filter(({ conversation }) => search === null || contains(place, conversation, search))
    .toSorted((a, b) => timeOf(b.last_activity) - timeOf(a.last_activity) || (a.chat_id < b.chat_id ? 1 : -1))
  return { chats, unreadable }
}

/** A home may hold ten thousand conversations, so all of them are gone through once. */
function byConversation(branches: ReadonlyArray<Branch>): Branch[][] {
  const groups = new Map<string, Branch[]>()
  for (const branch of branches) {
    const rows = groups.get(branch.conversation)
    if (rows === undefined) groups.set(branch.conversation, [branch])
    else rows.push(branch)
  }
  return [...groups.values()]
}

function chatOf(place: Place, rows: ReadonlyArray<Branch>): Chat | null {
  const live = rows.filter(({ retired }) => !retired)
  const first = rows[0]
  const shown = live.find(({ current }) => current) ?? newest(live) ?? first
  if (first === undefined || shown === undefined) return null
  const { model } = summarize(place.root, first.conversation).meta
  return {
    chat_id: shown.chat_id,
    conversation: first.conversation,
    created_at: first.created_at,
    last_activity: newest(rows)?.last_activity ?? first.last_activity,
    model,
    workspace: first.workspace,
    branches: live.length,
    records: shown.records,
    preview: first.preview,
  }
}

function newest(rows: ReadonlyArray<Branch>): Branch | undefined {
  return rows.toSorted((a, b) => timeOf(b.last_activity) - timeOf(a.last_activity))[0]
}

function contains(place: Place, id: string, search: string): boolean {
  const wanted = search.toLowerCase()
  const conversation = Conversation.open(place.root, id)
  const seen = new Set<string>()
  return [...conversation.graph.heads.keys()].some((head) => {
    const nodes = conversation.chain(head).filter((node) => !seen.has(node.id))
    for (const node of nodes) seen.add(node.id)
    return conversation
      .items(nodes, 'whole', head)
      .some(({ message }) => message.role !== 'system' && message.content.toLowerCase().includes(wanted))
  })
}
