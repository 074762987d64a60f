import { readdirSync, statSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { tryParseWriterId } from './ids.ts'
import { chatOfTranscriptName, conversationsFolder } from './paths.ts'
import { isWriterDead } from './writers.ts'

/** Younger ones may be those of a process that is at work. */
const oldMs = 3_600_000
const newLog = /^.+\.events\.jsonl\.(.+-\d+-[0-9a-f]{16})$/
const newIndex = /^.+\.event-index\.json\.[0-9a-f]{12}\.tmp$/
const newTranscript = /^(.+\.jsonl)\.[0-9a-f]{12}\.tmp(\.aside)?$/

/**
 * Removes the temporary files that killed processes left beside conversations: logs that never got their name, whose
 * messages nobody was told are saved, and indices, which are made from logs. Those of transcripts stay: the exchange may have
 * put into one what another program wrote, and nothing else may hold it.
 */
export async function sweepLeftovers(
  root: string,
  { hostname, now }: { readonly hostname: string; readonly now: Date },
): Promise<void> {
  for (const name of namesIn(root)) {
    const writer = newLog.exec(name)?.[1]
    const file = path.join(conversationsFolder(root), name)
    const isOver =
      writer === undefined
        ? newIndex.test(name) && isOld(file, now)
        : tryParseWriterId(writer) !== null && (await isWriterDead(root, hostname, writer))
    if (isOver) removeIfThere(file)
  }
}

export interface TranscriptLeftover {
  readonly chatId: string
  readonly file: string
}

/** The files that a process which was killed in the exchange of one of these chats' transcripts left. */
export function transcriptLeftovers(root: string, chatIds: ReadonlySet<string>): TranscriptLeftover[] {
  return namesIn(root).flatMap((name) => {
    const chatId = chatOfTranscriptName(newTranscript.exec(name)?.[1] ?? '')
    if (chatId === null || !chatIds.has(chatId)) return []
    return [{ chatId, file: path.join(conversationsFolder(root), name) }]
  })
}

function namesIn(root: string): string[] {
  try {
    return readdirSync(conversationsFolder(root))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

function isOld(file: string, now: Date): boolean {
  try {
    return now.getTime() - statSync(file).mtimeMs > oldMs
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Another process may sweep too. */
function removeIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
