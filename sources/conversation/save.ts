import { chmodSync, closeSync, linkSync, openSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { syncFolder } from '../files/durable.ts'
import { acquireLock } from '../files/lockFile.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import type { Conversation } from './conversation.ts'
import { chainDigest, ROOT_DIGEST } from './digest.ts'
import { type LogEntry, type MessageEntry, stringifyEntry } from './entry.ts'
import type { Graph, Node } from './graph.ts'
import {
  type HeadsIndex,
  makeHeadsIndex,
  readHeadsIndex,
  type TranscriptMark,
  writeHeadsIndex,
} from './headsIndex.ts'
import { type LogWrites, realWrites, shortWrite, statOrNull } from './logFile.ts'
import { messageEntriesOf } from './oldChatFile.ts'
import { conversationsFolder, saveLockPath, transcriptPath } from './paths.ts'
import { bringTranscript } from './transcript.ts'
import type { WriterLock } from './writers.ts'

/** How long a save waits for the lock, in milliseconds. */
const lockTimeoutMs = 5000
const tries = 3

export interface SaveOptions {
  readonly writer: WriterLock
  readonly now: () => Date
  /**
   * Decides what is written, from the log as it is under the lock. Called again with the same log, grown by what a failed
   * try left in it, after a failure: it must give the same ids each time.
   */
  readonly plan: (graph: Graph) => ReadonlyArray<LogEntry> | Promise<ReadonlyArray<LogEntry>>
  readonly writes?: LogWrites
}

export interface SaveResult {
  /** Transcripts that held foreign text, and the chats it was saved as. */
  readonly rescued: ReadonlyArray<{ readonly chat_id: string; readonly copy: string }>
}

/**
 * Appends to a conversation's log: lock, replay what is new, plan, one write, sync, read back, derived files, unlock. What it
 * wrote is acknowledged when it returns. Throws `lock_held`, `save_failed` (nothing acknowledged), or what `plan` throws.
 */
export async function saveConversation(
  conversation: Conversation,
  options: SaveOptions,
): Promise<SaveResult> {
  await ensurePrivateFolder(conversationsFolder(conversation.root))
  const lock = await acquireLock({
    path: saveLockPath(conversation.root, conversation.id),
    mode: 'exclusive',
    timeoutMs: lockTimeoutMs,
    subject: `the conversation '${conversation.id}'`,
  })
  try {
    conversation.refresh()
    const oldMark = markOfOldChat(conversation)
    const written = await appendPlanned(conversation, options)
    return written.length === 0
      ? { rescued: [] }
      : await bringDerivedFiles(conversation, written, { ...options, oldMark })
  } finally {
    await lock.release()
  }
}

async function appendPlanned(
  conversation: Conversation,
  options: SaveOptions,
): Promise<ReadonlyArray<LogEntry>> {
  const { plan, writes = realWrites } = options
  if (conversation.newMeta !== null && conversation.graph.heads.size > 0) {
    throw new CassError('chat_id_taken', `another chat with the id '${conversation.id}' was begun just now`, {
      hint: 'try again: the next id is another one',
    })
  }
  let failure: unknown
  let unsynced: ReadonlyArray<LogEntry> = []
  for (let attempt = 0; attempt < tries; attempt++) {
    const planned = await plan(conversation.graph)
    // After a failed sync the kernel may have dropped what the log seems to hold: all of it is written again.
    const entries = unsynced.length > 0 ? unsynced : planned
    if (entries.length === 0) return []
    const batch = withHeaders(conversation, entries, options)
    try {
      if (conversation.graph.heads.size === 0 || conversation.oldChat !== null) {
        await createLog(conversation, batch, { writer: options.writer, writes })
      } else {
        assertStillThere(conversation)
        conversation.log.append(linesOf(conversation, batch), writes)
      }
    } catch (error) {
      failure = error
      if (error instanceof CassError && error.code === 'sync_failed') unsynced = entries
      conversation.refresh()
      continue
    }
    conversation.refresh()
    assertReadBack(conversation, entries)
    conversation.begun()
    return entries
  }
  const cause = failure instanceof CassError && failure.cause !== undefined ? failure.cause : failure
  throw new CassError(
    'save_failed',
    `cannot save to '${conversation.log.path}': ${errnoOf(cause) ?? String(failure)}`,
    {
      cause: failure,
      hint: 'free some space or check the permissions of the folder; what was saved before is untouched',
    },
  )
}

/** The header of a new log, the messages of an old chat, and this process's own entry, where they are missing. */
function withHeaders(
  conversation: Conversation,
  entries: ReadonlyArray<LogEntry>,
  { writer, now }: SaveOptions,
): LogEntry[] {
  const { graph, oldChat, newMeta } = conversation
  const at = now().toISOString()
  const batch: LogEntry[] = []
  if (graph.heads.size === 0 || oldChat !== null) {
    const meta = conversation.meta
    batch.push({
      type: 'log',
      writer: writer.id,
      at,
      generation: 1,
      upgraded_from_schema: newMeta === null ? 1 : null,
      meta,
    })
  }
  if (oldChat !== null || !graph.writers.has(writer.id)) {
    batch.push({ type: 'writer', writer: writer.id, at, pid: writer.pid, hostname: writer.hostname })
  }
  if (oldChat !== null) batch.push(...messageEntriesOf(oldChat, writer.id))
  return [...batch, ...entries]
}

function linesOf(conversation: Conversation, batch: ReadonlyArray<LogEntry>): string {
  const digests = new Map<string, string>()
  const lines = batch.map((entry) => {
    if (entry.type !== 'message') return stringifyEntry(entry)
    const parent =
      entry.parent === null
        ? ROOT_DIGEST
        : (digests.get(entry.parent) ?? digestOf(conversation, entry.parent))
    const digested: MessageEntry = { ...entry, digest: chainDigest(parent, entry.msgs[0]) }
    digests.set(entry.id, digested.digest ?? ROOT_DIGEST)
    return stringifyEntry(digested)
  })
  return `${lines.join('\n')}\n`
}

/** The chain digest that stands in a message's line; a log of another program may have none. */
function digestOf(conversation: Conversation, id: string): string {
  const node: Node | undefined = conversation.graph.nodes.get(id)
  let digest = ROOT_DIGEST
  if (node === undefined || conversation.oldChat !== null) return digest
  conversation.log.readLines([node], (_, line) => {
    digest = /"digest":"([0-9a-f]{64})"/.exec(line.toString('latin1', 0, 4096))?.[1] ?? ROOT_DIGEST
    return true
  })
  return digest
}

/** Makes the log with its first batch: it is on disk as a whole, or not at all. */
async function createLog(
  conversation: Conversation,
  batch: ReadonlyArray<LogEntry>,
  { writer, writes }: { readonly writer: WriterLock; readonly writes: LogWrites },
): Promise<void> {
  const { path: file } = conversation.log
  const temporary = `${file}.${writer.id}`
  try {
    const fd = openSync(temporary, 'w', 0o600)
    try {
      const bytes = Buffer.from(linesOf(conversation, batch))
      const written = writes.write(fd, bytes)
      if (written !== bytes.length) throw shortWrite(written, bytes.length)
      writes.sync(fd)
    } finally {
      closeSync(fd)
    }
    try {
      linkSync(temporary, file)
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST' || !isEmptyLog(conversation)) throw error
      // A log without a byte is what a full disk left of an older version; it holds nothing to keep.
      unlinkSync(file)
      linkSync(temporary, file)
    }
  } finally {
    unlinkIfThere(temporary)
  }
  await syncFolder(path.dirname(file))
}

function isEmptyLog(conversation: Conversation): boolean {
  conversation.log.refresh()
  return conversation.log.position === 0 && conversation.log.graph.heads.size === 0
}

/** A log that vanished while it was open must not come back without its beginning. */
function assertStillThere(conversation: Conversation): void {
  try {
    // Looser permissions, as another program may have left them, are tightened.
    chmodSync(conversation.log.path, 0o600)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    throw new CassError(
      'conversation_gone',
      `the log '${conversation.log.path}' was removed while it was in use`,
      {
        hint: 'put the file back, or begin a new chat',
      },
    )
  }
}

function assertReadBack({ graph, log }: Conversation, entries: ReadonlyArray<LogEntry>): void {
  const missing = entries.find(
    (entry) =>
      (entry.type === 'message' && !graph.nodes.has(entry.id)) ||
      (entry.type === 'fork' && !graph.heads.has(entry.new_head)) ||
      (entry.type === 'turn_begin' && !graph.turns.has(entry.turn)),
  )
  if (missing === undefined) return
  throw new CassError('save_failed', `'${log.path}' does not hold what was just written to it`, {
    hint: 'look for another program that writes to this file, then run cass fsck',
  })
}

/**
 * An old chat's file, whose messages the log is about to hold, is gone on with as it is; it is only taken for somebody's text
 * when it has grown since it was read, or has lines that are no records.
 */
function markOfOldChat({ root, id, oldChat }: Conversation): TranscriptMark | null {
  if (oldChat === null || oldChat.problems.length > 0 || oldChat.messages[0]?.message.role !== 'system')
    return null
  const there = statOrNull(transcriptPath(root, id))
  if (there === null || there.size !== oldChat.size || !oldChat.endsWithBreak) return null
  return { records: oldChat.messages.length + 1, size: there.size, mtime_ms: there.mtimeMs, inode: there.ino }
}

/** Transcripts of the heads that were written, and the index. Lost ones are made again by the next save. */
async function bringDerivedFiles(
  conversation: Conversation,
  written: ReadonlyArray<LogEntry>,
  { writer, now, oldMark }: SaveOptions & { readonly oldMark: TranscriptMark | null },
): Promise<SaveResult> {
  const previous = readHeadsIndex(conversation.root, conversation.id)
  const marks = new Map<string, TranscriptMark | null>()
  const rescued: Array<{ chat_id: string; copy: string }> = []
  for (const head of touchedHeads(written)) {
    const known = previous?.heads.find(({ id }) => id === head)?.transcript ?? null
    const mark = head === 'main' ? (known ?? oldMark) : known
    const brought = await bringTranscript(conversation, head, mark)
    marks.set(head, brought.mark)
    if (brought.rescuedAs !== null)
      rescued.push({ chat_id: conversation.chatIdOf(head), copy: brought.rescuedAs })
  }
  const index = makeHeadsIndex(conversation, { previous, writer: writer.id, now: now().toISOString() })
  await writeHeadsIndex(conversation.root, conversation.id, withMarks(index, marks))
  return { rescued }
}

function touchedHeads(entries: ReadonlyArray<LogEntry>): ReadonlySet<string> {
  const heads = new Set<string>()
  for (const entry of entries) {
    if (entry.type === 'message') heads.add(entry.head)
    if (entry.type === 'fork') heads.add(entry.new_head)
  }
  return heads
}

function withMarks(index: HeadsIndex, marks: ReadonlyMap<string, TranscriptMark | null>): HeadsIndex {
  return {
    ...index,
    heads: index.heads.map((record) => {
      const { transcript, ...rest } = record
      const mark = marks.has(record.id) ? (marks.get(record.id) ?? null) : (transcript ?? null)
      return mark === null ? rest : { ...rest, transcript: mark }
    }),
  }
}

function unlinkIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
