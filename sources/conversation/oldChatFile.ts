import { CassError, errnoOf } from '../errors.ts'
import { readRegular, reasonOf } from '../files/openRegular.ts'
import type { LogMeta, MessageEntry } from './entry.ts'
import { type Graph, makeGraph } from './graph.ts'
import { type OldChat, parseOldChat } from './oldChat.ts'
import { transcriptPath } from './paths.ts'
import { replay } from './replay.ts'

/**
 * Reads a chat that has no log. Throws `conversation_not_found`, `conversation_empty` for a file without a message, or
 * `conversation_unreadable`.
 */
export function readOldChat(root: string, chatId: string): OldChat {
  let bytes: Buffer
  try {
    bytes = readRegular(transcriptPath(root, chatId))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') {
      throw new CassError('conversation_not_found', `there is no conversation '${chatId}'`, {
        hint: 'list the conversations of this folder with: cass chats',
      })
    }
    throw new CassError('conversation_unreadable', `cannot read the chat '${chatId}': ${reasonOf(error)}`, {
      cause: error,
      hint: `look at '${transcriptPath(root, chatId)}'`,
    })
  }
  const chat = parseOldChat(bytes, chatId)
  if (chat.messages.length > 0) return chat
  throw new CassError('conversation_empty', `the chat '${chatId}' holds no message`, {
    hint: `look at '${transcriptPath(root, chatId)}'`,
  })
}

/** What a log made from an old chat says of it. */
export function metaOfOldChat({ meta }: OldChat): LogMeta {
  if (meta === null) return { created_at: '', model: '', cwd: '' }
  const { created_at, model, cwd, parent_chat_id, branch_from } = meta
  return {
    ...{ created_at, model, cwd },
    ...(parent_chat_id === undefined ? {} : { parent_chat_id }),
    ...(branch_from === undefined ? {} : { branch_from }),
  }
}

/** The graph of an old chat: one head, its messages in the order of the file. */
export function graphOfOldChat(chat: OldChat): Graph {
  const graph = makeGraph()
  graph.createdAt = chat.meta?.created_at ?? null
  for (const [position, { id, message }] of chat.messages.entries()) {
    const parent = chat.messages[position - 1]?.id ?? null
    const header = { id, head: 'main', writer: null, turn: null, at: message.ts, parent, fs: null, ws: null }
    replay(graph, { type: 'message', header, role: message.role, offset: 0, length: 0 })
  }
  return graph
}

/** The messages of an old chat as its log gets them. */
export function messageEntriesOf(chat: OldChat, writer: string): MessageEntry[] {
  return chat.messages.map(({ id, digest, message }, position) => ({
    ...{ type: 'message', id, head: 'main', writer, turn: null, at: message.ts },
    ...{ parent: chat.messages[position - 1]?.id ?? null, digest, fs: null, ws: null, msgs: [message] },
  }))
}
