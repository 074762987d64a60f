import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, fsyncSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { errnoOf } from '../errors.ts'
import { loadNativeFiles } from '../files/native.ts'
import { isOtherKind, openRegular, readRegular } from '../files/openRegular.ts'
import type { Conversation } from './conversation.ts'
import type { Node } from './graph.ts'
import { branchFromOfHead, type TranscriptMark } from './headsIndex.ts'
import { deriveChatId } from './ids.ts'
import { transcriptLeftovers } from './leftovers.ts'
import { type FileStat, statOrNull } from './logFile.ts'
import { asOwnChat } from './ownChat.ts'
import { transcriptPath } from './paths.ts'
import { type MetaRecord, recordOfMessage, stringifyRecord } from './record.ts'

/** A branch above this size gets its transcript only with its first own message: branching must stay cheap. */
const copiedUpTo = 16 * 1024 * 1024

export interface BroughtTranscript {
  readonly mark: TranscriptMark | null
  /** The chat that what somebody else had written into the file was saved as. */
  readonly rescuedAs: string | null
}

/**
 * Brings a head's transcript up to date, under the save lock: made when it is missing, completed when it is shorter. What
 * this program did not write is never overwritten: the file becomes a chat of its own first.
 */
export async function bringTranscript(
  conversation: Conversation,
  head: string,
  mark: TranscriptMark | null,
): Promise<BroughtTranscript> {
  const file = transcriptPath(conversation.root, conversation.chatIdOf(head))
  const there = statOrNull(file)
  const records = conversation.recordCount(head)
  if (there === null) {
    if (!isWorthAFile(conversation, head)) return { mark: null, rescuedAs: null }
    const size = writeLines(file, made, transcriptLines(conversation, head, 0))
    return { mark: markOf(conversation, head, { file, size }), rescuedAs: null }
  }
  if (mark !== null && isAsMarked(there, mark) && isBeginning(conversation, head, mark)) {
    if (mark.records === records) return { mark, rescuedAs: null }
    const added = writeLines(file, goneOn, transcriptLines(conversation, head, mark.records))
    return { mark: markOf(conversation, head, { file, size: there.size + added }), rescuedAs: null }
  }
  const ours = compareWithFile(file, transcriptLines(conversation, head, 0))
  if (ours.type === 'prefix') {
    const added = writeLines(file, goneOn, ours.rest)
    return { mark: markOf(conversation, head, { file, size: there.size + added }), rescuedAs: null }
  }
  return await replaceRescuing(conversation, head, file)
}

/** Whether nobody wrote to a head's transcript, or put another file in its place, since this program did. */
export function isUntouched(conversation: Conversation, head: string, mark: TranscriptMark | null): boolean {
  const there = statOrNull(transcriptPath(conversation.root, conversation.chatIdOf(head)))
  return there !== null && mark !== null && isAsMarked(there, mark)
}

function isAsMarked(there: FileStat, mark: TranscriptMark): boolean {
  return mark.size === there.size && mark.mtime_ms === there.mtimeMs && mark.inode === there.ino
}

/** Whether the branch still begins with what the file holds; it does not when a line of the log was damaged since. */
function isBeginning(conversation: Conversation, head: string, { records, leaf }: TranscriptMark): boolean {
  if (records === 2 && leaf === undefined) return true
  const last = conversation.chainFrom(head, records - 1)[0]
  return last !== undefined && last.index === records - 1 && last.id === leaf
}

/** The lines of a head's transcript from the record `from` on, each with its line end. */
export function* transcriptLines(conversation: Conversation, head: string, from: number): Generator<string> {
  if (from <= 0) yield `${stringifyRecord(metaOf(conversation, head))}\n`
  const nodes = conversation.chainFrom(head, from)
  if (from <= 1 && nodes[0]?.index !== 1) {
    const content = conversation.head(head).system?.content ?? ''
    yield `${stringifyRecord({ type: 'system', content })}\n`
  }
  for (const { message } of conversation.itemsOneByOne(nodes, 'whole', head)) {
    yield `${stringifyRecord(recordOfMessage(message))}\n`
  }
}

/** The first record of a head's transcript. */
export function metaOf(conversation: Conversation, headId: string): MetaRecord {
  const head = conversation.head(headId)
  const { created_at, model, cwd, parent_chat_id } = conversation.meta
  const from = branchFromOfHead(conversation, head)
  const parent = head.parentHead === null ? parent_chat_id : conversation.chatIdOf(head.parentHead)
  return {
    type: 'meta',
    chat_id: conversation.chatIdOf(headId),
    created_at: head.parentHead === null ? created_at : head.createdAt,
    model,
    cwd,
    ...(parent === undefined ? {} : { parent_chat_id: parent }),
    ...(from === null ? {} : { branch_from: from }),
    conversation: conversation.id,
    head: headId,
  }
}

function isWorthAFile(conversation: Conversation, headId: string): boolean {
  const head = conversation.head(headId)
  const chain = conversation.chain(headId)
  const hasOwn = (node: Node) => node.head === headId && node.role !== 'tool'
  if (head.parentHead === null || chain.some(hasOwn)) return true
  return chain.reduce((sum, { length }) => sum + length, 0) <= copiedUpTo
}

/** Whether a file is a beginning of the lines; then also what is missing of them. */
function compareWithFile(
  file: string,
  lines: Generator<string>,
): { readonly type: 'prefix'; readonly rest: Iterable<string | Buffer> } | { readonly type: 'other' } {
  const fd = openRegular(file, constants.O_RDONLY)
  try {
    const { size } = fstatSync(fd)
    let position = 0
    // Not `for of`, which would end the lines with itself: the rest of them is still to be written.
    for (let next = lines.next(); next.done !== true; next = lines.next()) {
      const line = next.value
      const ours = Buffer.from(line)
      const theirs = Buffer.alloc(Math.min(ours.length, size - position))
      readSync(fd, theirs, 0, theirs.length, position)
      if (!theirs.equals(ours.subarray(0, theirs.length))) return { type: 'other' }
      position += theirs.length
      if (position === size && theirs.length < ours.length) {
        return { type: 'prefix', rest: withRest(ours.subarray(theirs.length), lines) }
      }
    }
    return position === size ? { type: 'prefix', rest: [] } : { type: 'other' }
  } finally {
    closeSync(fd)
  }
}

function* withRest(first: Buffer, lines: Generator<string>): Generator<string | Buffer> {
  yield first
  yield* lines
}

/**
 * Saves what is in the file as a chat of its own, then puts our transcript in its place in one step. In this order, so that a
 * process that dies in between leaves the foreign text in a chat, or twice, but never only in a file that no list knows.
 */
async function replaceRescuing(
  conversation: Conversation,
  head: string,
  file: string,
): Promise<BroughtTranscript> {
  const chatId = conversation.chatIdOf(head)
  const foreign = readRegular(file)
  const rescuedAs = rescue(conversation, chatId, foreign)
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  const size = writeLines(temporary, made, transcriptLines(conversation, head, 0))
  const aside = await exchange(temporary, file)
  const last = readRegular(aside)
  // The other program may have gone on with the file until the exchange.
  const rescuedLast = last.equals(foreign) ? rescuedAs : rescue(conversation, chatId, last)
  unlinkSync(aside)
  return { mark: markOf(conversation, head, { file, size }), rescuedAs: rescuedLast }
}

/**
 * Removes what a process left that was killed in the exchange, under the save lock: it is a beginning of our transcript, or
 * what another program wrote, which is saved as a chat of its own first. Gives those chats.
 */
export function rescueLeftovers(conversation: Conversation, head: string): string[] {
  const chatId = conversation.chatIdOf(head)
  return transcriptLeftovers(conversation.root, new Set([chatId])).flatMap(({ file }) => {
    const isOurs = compareWithFile(file, transcriptLines(conversation, head, 0)).type === 'prefix'
    const copies = isOurs ? [] : [rescue(conversation, chatId, readRegular(file))]
    unlinkSync(file)
    return copies
  })
}

/** Puts `fresh` in the place of `file`; gives the path that what was there now has. */
async function exchange(fresh: string, file: string): Promise<string> {
  const native = await loadNativeFiles()
  if (native !== null) {
    await native.swap(fresh, file)
    return fresh
  }
  // Without an exchange in one step the name is free for a moment; nothing is lost in it.
  const aside = `${fresh}.aside`
  await rename(file, aside)
  await rename(fresh, file)
  return aside
}

function rescue(conversation: Conversation, chatId: string, bytes: Buffer): string {
  for (let attempt = 0; ; attempt++) {
    const copyId = deriveChatId(chatId, bytes, attempt)
    const content = asOwnChat(bytes, { copyId, parent: chatId, conversation })
    const file = transcriptPath(conversation.root, copyId)
    try {
      const fd = openRegular(file, made)
      try {
        writeAll(fd, content)
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
      return copyId
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
      if (holds(file, content)) return copyId
    }
  }
}

function holds(file: string, content: Buffer): boolean {
  try {
    return readRegular(file).equals(content)
  } catch (error) {
    if (isOtherKind(error)) return false
    throw error
  }
}

const made = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
const goneOn = constants.O_WRONLY | constants.O_APPEND

/** Gives how many bytes it wrote. */
function writeLines(file: string, flags: number, lines: Iterable<string | Buffer>): number {
  const fd = openRegular(file, flags)
  try {
    let batch: Buffer[] = []
    let size = 0
    let total = 0
    for (const line of lines) {
      const bytes = typeof line === 'string' ? Buffer.from(line) : line
      batch.push(bytes)
      size += bytes.length
      total += bytes.length
      if (size < 1024 * 1024) continue
      writeAll(fd, Buffer.concat(batch))
      batch = []
      size = 0
    }
    if (size > 0) writeAll(fd, Buffer.concat(batch))
    return total
  } finally {
    closeSync(fd)
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

/** Null when the file is not as long as what we wrote: somebody else wrote at the same moment, so the next save looks closely. */
function markOf(
  conversation: Conversation,
  head: string,
  { file, size }: { readonly file: string; readonly size: number },
): TranscriptMark | null {
  const there = statOrNull(file)
  if (there === null || there.size !== size) return null
  const { leaf } = conversation.head(head)
  const place = { size, mtime_ms: there.mtimeMs, inode: there.ino }
  return { records: conversation.recordCount(head), ...(leaf === null ? {} : { leaf }), ...place }
}
