import { errnoOf } from '../errors.ts'
import type { Conversation } from './conversation.ts'
import { type LogEntry, MAIN_HEAD } from './entry.ts'
import {
  type HeadsIndex,
  makeHeadsIndex,
  readHeadsIndex,
  type TranscriptMark,
  writeHeadsIndex,
} from './headsIndex.ts'
import { statOrNull } from './logFile.ts'
import { transcriptPath } from './paths.ts'
import { bringTranscript, isUntouched, rescueLeftovers } from './transcript.ts'

export interface BroughtFiles {
  /** Transcripts that held foreign text, and the chats it was saved as. */
  readonly rescued: ReadonlyArray<{ readonly chat_id: string; readonly copy: string }>
  /** Why some of the files are behind the log; null: none is. */
  readonly behind: string | null
}

/**
 * Brings the transcripts of the heads that were written and the index up to date, under the save lock. What cannot be written
 * is no failure of the save, since the log has everything: the next save makes it again.
 */
export async function bringDerivedFiles(
  conversation: Conversation,
  written: ReadonlyArray<LogEntry>,
  {
    writer,
    now,
    oldMark,
  }: { readonly writer: string; readonly now: () => Date; readonly oldMark: TranscriptMark | null },
): Promise<BroughtFiles> {
  const { root, id } = conversation
  const rescued: Array<{ chat_id: string; copy: string }> = []
  let behind: string | null = null
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (errnoOf(error) === null) throw error
      behind ??= error instanceof Error ? error.message : String(error)
    }
  }
  await attempt(async () => {
    const previous = readHeadsIndex(root, id)
    const marks = new Map<string, TranscriptMark | null>()
    for (const head of touchedHeads(written)) {
      await attempt(async () => {
        const known = previous?.heads.find((record) => record.id === head)?.transcript ?? null
        // All of the folder is listed for it, and an exchange, of whatever process, leaves another file.
        const isSearched = conversation.searched.delete(head) && isUntouched(conversation, head, known)
        const leftovers = isSearched ? [] : rescueLeftovers(conversation, head)
        for (const copy of leftovers) rescued.push({ chat_id: conversation.chatIdOf(head), copy })
        marks.set(head, null)
        const brought = await bringTranscript(
          conversation,
          head,
          head === MAIN_HEAD ? (known ?? oldMark) : known,
        )
        marks.set(head, brought.mark)
        if (brought.rescuedAs !== null)
          rescued.push({ chat_id: conversation.chatIdOf(head), copy: brought.rescuedAs })
        conversation.searched.add(head)
      })
    }
    const index = makeHeadsIndex(conversation, { previous, writer, now: now().toISOString() })
    await writeHeadsIndex(root, id, withMarks(index, marks))
  })
  return { rescued, behind }
}

/**
 * An old chat's file, whose messages the log is about to hold, is gone on with as it is; it is only taken for somebody's text
 * when it has grown since it was read, or has lines that are no records.
 */
export function markOfOldChat({ root, id, oldChat }: Conversation): TranscriptMark | null {
  if (oldChat === null || oldChat.problems.length > 0 || oldChat.messages[0]?.message.role !== 'system')
    return null
  const there = statOrNull(transcriptPath(root, id))
  if (there === null || there.size !== oldChat.size || !oldChat.endsWithBreak) return null
  const leaf = oldChat.messages.at(-1)?.id ?? ''
  return {
    records: oldChat.messages.length + 1,
    leaf,
    size: there.size,
    mtime_ms: there.mtimeMs,
    inode: there.ino,
  }
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
