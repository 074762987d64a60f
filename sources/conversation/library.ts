import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { CassError, errnoOf } from '../errors.ts'
import { Conversation } from './conversation.ts'
import { type HeadsIndex, makeHeadsIndex, readTrustedIndex } from './headsIndex.ts'
import { isSafeComponent } from './ids.ts'
import { statOrNull } from './logFile.ts'
import {
  chatOfTranscriptName,
  conversationOfLogName,
  conversationsFolder,
  logPath,
  transcriptPath,
} from './paths.ts'
import { type MetaRecord, tryParseRecord } from './record.ts'

/** Every conversation below a root, those of other programs too; the ids of logs first. */
export function listConversationIds(root: string): string[] {
  const names = namesIn(conversationsFolder(root))
  const logs = names.flatMap((name) => conversationOfLogName(name) ?? []).filter(isSafeComponent)
  const known = new Set(logs)
  const oldChats = names
    .flatMap((name) => chatOfTranscriptName(name) ?? [])
    .filter((chatId) => isSafeComponent(chatId) && !known.has(chatId))
    .filter((chatId) => {
      const meta = readTranscriptMeta(root, chatId)
      return meta !== null && (meta.conversation === undefined || !known.has(meta.conversation))
    })
  return [...logs, ...oldChats].toSorted()
}

/**
 * What lists tell of a conversation: from its index when that tells all of the log, else from the log. Throws what
 * opening a conversation throws.
 */
export function summarize(root: string, conversation: string): HeadsIndex {
  const trusted = readTrustedIndex(root, conversation)
  if (trusted !== null) return trusted
  return makeHeadsIndex(Conversation.open(root, conversation), { previous: null, writer: '', now: '' })
}

/**
 * The conversation and head that a chat id names, or null: by its log, else by its transcript, else by the indices, else by
 * reading the logs (docs/storage.md, find).
 */
export function findChat(
  root: string,
  chatId: string,
): { readonly conversation: string; readonly head: string } | null {
  if (!isSafeComponent(chatId)) return null
  if (statOrNull(logPath(root, chatId)) !== null) return { conversation: chatId, head: 'main' }
  const meta = readTranscriptMeta(root, chatId)
  const named = meta?.conversation
  if (named !== undefined && isSafeComponent(named) && statOrNull(logPath(root, named)) !== null) {
    if (hasHead(root, named, chatId)) return { conversation: named, head: chatId }
  } else if (meta !== null) {
    return { conversation: chatId, head: 'main' }
  }
  const logs = namesIn(conversationsFolder(root)).flatMap((name) => conversationOfLogName(name) ?? [])
  const owner = logs.filter(isSafeComponent).find((conversation) => hasHead(root, conversation, chatId))
  return owner === undefined ? null : { conversation: owner, head: chatId }
}

/** The first record of a transcript or old chat; null when it is missing or is no meta record. */
export function readTranscriptMeta(root: string, chatId: string): MetaRecord | null {
  let fd: number
  try {
    fd = openSync(transcriptPath(root, chatId), 'r')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw new CassError(
      'conversation_unreadable',
      `cannot read '${transcriptPath(root, chatId)}': ${errnoOf(error)}`,
      {
        cause: error,
      },
    )
  }
  try {
    // A meta record is a few hundred bytes; a branch's label may make it longer.
    const buffer = Buffer.alloc(16 * 1024)
    const read = readSync(fd, buffer, 0, buffer.length, 0)
    const end = buffer.subarray(0, read).indexOf(0x0a)
    const record = tryParseRecord(buffer.toString('utf8', 0, end === -1 ? read : end))
    return record?.type === 'meta' ? record : null
  } catch (error) {
    // A folder or a device with the name of a chat is no chat.
    if (errnoOf(error) === 'EISDIR') return null
    throw error
  } finally {
    closeSync(fd)
  }
}

/**
 * The conversations joined to one by `parent_chat_id`, in either direction and over any number of steps, it included.
 */
export function familyOf(root: string, conversation: string): string[] {
  const ids = listConversationIds(root)
  const parents = new Map(ids.map((id) => [id, parentConversation(root, id)]))
  const family = new Set([conversation])
  for (let grew = true; grew; ) {
    grew = false
    for (const [id, parent] of parents) {
      if (parent === null || family.has(id) === family.has(parent)) continue
      family.add(id).add(parent)
      grew = true
    }
  }
  return [...family]
}

/** Which conversation holds the chat that this one names as its parent; null when it names none. */
function parentConversation(root: string, conversation: string): string | null {
  // The first chat's transcript carries the same meta as the log, and is cheaper to read.
  const parent = readTranscriptMeta(root, conversation)?.parent_chat_id
  if (parent === undefined) return null
  return findChat(root, parent)?.conversation ?? null
}

function hasHead(root: string, conversation: string, head: string): boolean {
  try {
    return summarize(root, conversation).heads.some(({ id }) => id === head)
  } catch (error) {
    // A log that cannot be read holds no branch that could be used; lists and fsck name the error.
    if (error instanceof CassError) return false
    throw error
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw new CassError('home_unreadable', `cannot read the folder '${folder}': ${errnoOf(error)}`, {
      cause: error,
      hint: 'check its permissions, or point CASS_HOME elsewhere',
    })
  }
}
