import { closeSync, constants, readdirSync, readSync } from 'node:fs'
import { CassError, errnoOf } from '../errors.ts'
import { isOtherKind, openRegular } from '../files/openRegular.ts'
import { Conversation } from './conversation.ts'
import { MAIN_HEAD } from './entry.ts'
import { type HeadsIndex, makeHeadsIndex, readTrustedIndex } from './headsIndex.ts'
import { readLogHeader, statOrNull } from './logFile.ts'
import {
  chatOfTranscriptName,
  conversationOfLogName,
  conversationsFolder,
  isUsableChatId,
  logPath,
  transcriptPath,
} from './paths.ts'
import { type MetaRecord, tryParseRecord } from './record.ts'

/** Every conversation below a root, those of other programs too. */
export function listConversationIds(root: string): string[] {
  const logs = logIds(root)
  const known = new Set(logs)
  const heads = lazily(() => headOwners(root, logs))
  const oldChats = namesIn(conversationsFolder(root))
    .flatMap((name) => chatOfTranscriptName(name) ?? [])
    .filter((chatId) => isUsableChatId(chatId) && !known.has(chatId))
    .filter((chatId) => {
      const meta = readTranscriptMeta(root, chatId)
      // A transcript of ours whose first line is damaged names no conversation; its head does.
      if (meta === null) return !heads().has(chatId)
      return meta.conversation === undefined || !known.has(meta.conversation)
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
 * Whether a conversation that cannot be opened is what was kept of a transcript (or a branch of another program) and holds no
 * message: its bytes are all there, and nothing in them could be shown.
 */
export function isWithoutMessages(root: string, conversation: string, error: CassError): boolean {
  if (error.code !== 'conversation_empty' || hasLog(root, conversation)) return false
  return readTranscriptMeta(root, conversation)?.parent_chat_id !== undefined
}

export interface FoundChat {
  readonly conversation: string
  readonly head: string
}

/**
 * The conversation and head that a chat id names, or null: by its log, else by its transcript, else by the indices, else by
 * reading the logs (docs/storage.md, find).
 */
export function findChat(root: string, chatId: string): FoundChat | null {
  return makeFinder(root)(chatId)
}

/** Finds many chats, and reads the indices of all logs at most once. */
function makeFinder(root: string): (chatId: string) => FoundChat | null {
  const owners = lazily(() => headOwners(root, logIds(root)))
  return (chatId) => {
    if (!isUsableChatId(chatId)) return null
    if (hasLog(root, chatId)) return { conversation: chatId, head: MAIN_HEAD }
    const meta = readTranscriptMeta(root, chatId)
    const named = meta?.conversation
    if (named !== undefined && isUsableChatId(named) && hasLog(root, named)) {
      if (headsOf(root, named).includes(chatId)) return { conversation: named, head: chatId }
    } else if (meta !== null) {
      return { conversation: chatId, head: MAIN_HEAD }
    }
    const owner = owners().get(chatId)
    if (owner !== undefined) return { conversation: owner, head: chatId }
    // An old chat whose first line is damaged.
    const isChat = meta === null && statOrNull(transcriptPath(root, chatId)) !== null
    return isChat ? { conversation: chatId, head: MAIN_HEAD } : null
  }
}

function hasLog(root: string, conversation: string): boolean {
  return statOrNull(logPath(root, conversation)) !== null
}

function logIds(root: string): string[] {
  const names = namesIn(conversationsFolder(root))
  return names.flatMap((name) => conversationOfLogName(name) ?? []).filter(isUsableChatId)
}

/** Which conversation each head is in; `main` is named by its conversation, so it is left out. */
function headOwners(root: string, conversations: ReadonlyArray<string>): ReadonlyMap<string, string> {
  const owners = new Map<string, string>()
  for (const conversation of conversations) {
    for (const head of headsOf(root, conversation)) if (head !== MAIN_HEAD) owners.set(head, conversation)
  }
  return owners
}

function headsOf(root: string, conversation: string): string[] {
  try {
    return summarize(root, conversation).heads.map(({ id }) => id)
  } catch (error) {
    // A log that cannot be read holds no branch that could be used; lists and fsck name the error.
    if (error instanceof CassError) return []
    throw error
  }
}

/** The first record of a transcript or old chat; null when it is missing or is no meta record. */
export function readTranscriptMeta(root: string, chatId: string): MetaRecord | null {
  let fd: number
  try {
    fd = openRegular(transcriptPath(root, chatId), constants.O_RDONLY)
  } catch (error) {
    // A folder, a pipe or a device with the name of a chat is no chat.
    if (errnoOf(error) === 'ENOENT' || isOtherKind(error)) return null
    throw new CassError(
      'conversation_unreadable',
      `cannot read '${transcriptPath(root, chatId)}': ${errnoOf(error)}`,
      {
        cause: error,
        hint: 'check the permissions of the file and its folder',
      },
    )
  }
  try {
    // A meta record is a few hundred bytes; a branch's label may make it longer.
    const buffer = Buffer.allocUnsafe(16 * 1024)
    const read = readSync(fd, buffer, 0, buffer.length, 0)
    const end = buffer.subarray(0, read).indexOf(0x0a)
    const record = tryParseRecord(buffer.toString('utf8', 0, end === -1 ? read : end))
    return record?.type === 'meta' ? record : null
  } finally {
    closeSync(fd)
  }
}

/**
 * The conversations joined to one by `parent_chat_id`, in either direction and over any number of steps, it included.
 */
export function familyOf(root: string, conversation: string): string[] {
  const find = makeFinder(root)
  const joined = new Map<string, string[]>()
  const join = (from: string, to: string) => {
    const others = joined.get(from)
    if (others === undefined) joined.set(from, [to])
    else others.push(to)
  }
  for (const id of listConversationIds(root)) {
    const parent = parentChat(root, id)
    const owner = parent === null ? undefined : find(parent)?.conversation
    if (owner === undefined) continue
    join(id, owner)
    join(owner, id)
  }
  const family = new Set([conversation])
  // A set gives what is added while it is walked.
  for (const id of family) for (const other of joined.get(id) ?? []) family.add(other)
  return [...family]
}

/** The chat that a conversation names as its parent; null when it names none. */
function parentChat(root: string, conversation: string): string | null {
  // The first two begin with what is asked; an upgraded chat's transcript is still the old file.
  const places = [
    () => readLogHeader(logPath(root, conversation))?.meta,
    () => readTranscriptMeta(root, conversation),
    () => summarize(root, conversation).meta,
  ]
  for (const read of places) {
    try {
      const meta = read()
      if (meta !== undefined && meta !== null) return meta.parent_chat_id ?? null
    } catch (error) {
      // The transcript of a log of another format still says it, so that the family's lists can name what they leave out.
      if (!(error instanceof CassError)) throw error
    }
  }
  return null
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
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
