import { closeSync, constants, linkSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { syncFolder } from '../files/durable.ts'
import { acquireLock } from '../files/lockFile.ts'
import { openRegular } from '../files/openRegular.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import type { Conversation } from './conversation.ts'
import { type BroughtFiles, bringDerivedFiles, markOfOldChat } from './derivedFiles.ts'
import { chainDigest, ROOT_DIGEST } from './digest.ts'
import { type LogEntry, type MessageEntry, stringifyEntry } from './entry.ts'
import type { Graph, Node } from './graph.ts'
import { type LogWrites, realWrites, shortWrite, statOrNull } from './logFile.ts'
import { messageEntriesOf } from './oldChatFile.ts'
import { conversationsFolder, saveLockPath, transcriptPath } from './paths.ts'
import type { WriterLock } from './writers.ts'

/** How long a save waits for the lock, in milliseconds. */
const lockTimeoutMs = 5000
const tries = 3
const retriedCodes: ReadonlySet<string> = new Set(['short_write', 'sync_failed'])

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

/** What became of the files that are derived from the log. */
export type SaveResult = BroughtFiles

/**
 * Appends to a conversation's log: lock, replay what is new, plan, one write, sync, read back, derived files, unlock. What it
 * wrote is acknowledged when it returns. Throws `lock_held`, `lock_unusable`, `save_failed` (nothing acknowledged), or what `plan` throws.
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
    if (written.length === 0) return { rescued: [], behind: null }
    const { writer, now } = options
    return await bringDerivedFiles(conversation, written, { writer: writer.id, now, oldMark })
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
    throw chatIdTaken(conversation.id)
  }
  const written: LogEntry[] = []
  let failure: unknown
  for (let attempt = 0; attempt < tries; attempt++) {
    const planned = await plan(conversation.graph)
    refuseTakenIds(conversation, planned)
    const batch = withHeaders(conversation, planned, options)
    if (batch.length === 0) return written
    try {
      if (conversation.graph.heads.size === 0 || conversation.oldChat !== null) {
        await createLog(conversation, batch, { writer: options.writer, writes })
      } else {
        conversation.log.append(linesOf(conversation, batch), writes)
      }
    } catch (error) {
      if (error instanceof CassError && !retriedCodes.has(error.code)) throw error
      failure = error
      written.push(...batch)
      conversation.refresh()
      // Also what a write that was cut left there was never synced.
      for (const entry of batch)
        if (entry.type !== 'log' && isIn(conversation, entry)) conversation.unsynced.add(entry)
      continue
    }
    conversation.refresh()
    assertReadBack(conversation, planned)
    conversation.unsynced.clear()
    return [...written, ...batch]
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

/**
 * What must stand before the entries: the header of a new log, the messages of an old chat, this process's own entry, and what
 * an earlier try could not sync, since the kernel may have dropped what the log seems to hold. Readers pass over what is there.
 */
function withHeaders(
  conversation: Conversation,
  entries: ReadonlyArray<LogEntry>,
  { writer, now }: SaveOptions,
): LogEntry[] {
  const { graph, oldChat, newMeta, unsynced } = conversation
  if (entries.length === 0 && unsynced.size === 0) return []
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
  return [...batch, ...unsynced, ...entries]
}

/** A chat id that a chat has, of whatever program, is never given to another one. */
function refuseTakenIds({ root, id, graph, newMeta }: Conversation, planned: ReadonlyArray<LogEntry>): void {
  const made = planned.flatMap((entry) => (entry.type === 'fork' ? [entry.new_head] : []))
  const fresh = made.filter((head) => !graph.heads.has(head))
  if (newMeta !== null && graph.heads.size === 0 && planned.length > 0) fresh.push(id)
  const taken = fresh.find((chatId) => statOrNull(transcriptPath(root, chatId)) !== null)
  if (taken !== undefined) throw chatIdTaken(taken)
}

function chatIdTaken(id: string): CassError {
  const hint = 'try again: the next id is another one'
  return new CassError('chat_id_taken', `another chat with the id '${id}' was begun just now`, { hint })
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
    const fd = openRegular(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
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
  conversation.begun()
  await syncFolder(path.dirname(file))
}

function isEmptyLog(conversation: Conversation): boolean {
  conversation.log.refresh()
  return conversation.log.position === 0 && conversation.log.graph.heads.size === 0
}

function assertReadBack(conversation: Conversation, entries: ReadonlyArray<LogEntry>): void {
  if (entries.every((entry) => isIn(conversation, entry))) return
  throw new CassError('save_failed', `'${conversation.log.path}' does not hold what was just written to it`, {
    hint: 'look for another program that writes to this file, then run cass fsck',
  })
}

/** Whether the log, as it was last read, says what an entry says. */
function isIn({ graph }: Conversation, entry: LogEntry): boolean {
  switch (entry.type) {
    case 'message':
      return graph.nodes.has(entry.id)
    case 'fork':
      return graph.heads.has(entry.new_head)
    case 'turn_begin':
      return graph.turns.has(entry.turn)
    case 'turn_end':
      return entry.turn === null || !graph.openTurns.has(entry.turn)
    case 'writer':
      return graph.writers.has(entry.writer)
    case 'select':
      return graph.selected === entry.head
    case 'rename':
      return graph.heads.get(entry.head)?.name === entry.name
    case 'retire':
      return graph.heads.get(entry.head)?.retired === true
    default:
      return true
  }
}

function unlinkIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
