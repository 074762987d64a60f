import path from 'node:path'
import { CassError } from '../errors.ts'
import { isSafeComponent } from './ids.ts'

/** Where each file of a conversation stands below the root (docs/storage.md, files). */
export function conversationsFolder(root: string): string {
  return path.join(root, 'conversations')
}

export function logPath(root: string, conversation: string): string {
  return path.join(conversationsFolder(root), `${conversation}${logSuffix}`)
}

export function indexPath(root: string, conversation: string): string {
  return path.join(conversationsFolder(root), `${conversation}.event-index.json`)
}

export function saveLockPath(root: string, conversation: string): string {
  return path.join(conversationsFolder(root), `${conversation}.jsonl.lock`)
}

/** Throws `bad_id` for what the log of another program may name as a head, and no file can be named by. */
export function transcriptPath(root: string, chatId: string): string {
  if (!isUsableChatId(chatId))
    throw new CassError('bad_id', `'${chatId}' cannot be the id of a chat`, { kind: 'usage' })
  return path.join(conversationsFolder(root), `${chatId}.jsonl`)
}

export function writersFolder(root: string): string {
  return path.join(root, 'locks', 'writers')
}

export const logSuffix = '.events.jsonl'
const transcriptSuffix = '.jsonl'

/** Whether a chat id from outside may name files: one component of a path, and no other kind of file of a chat. */
export function isUsableChatId(chatId: string): boolean {
  return isSafeComponent(chatId) && chatOfTranscriptName(`${chatId}${transcriptSuffix}`) !== null
}

/** The conversation whose log a file name is, or null. */
export function conversationOfLogName(name: string): string | null {
  return name.endsWith(logSuffix) ? name.slice(0, -logSuffix.length) : null
}

/** The chat whose transcript a file name is, or null. */
export function chatOfTranscriptName(name: string): string | null {
  if (!name.endsWith(transcriptSuffix) || /\.(events|turns|conflicts|guardian)\.jsonl$/.test(name))
    return null
  return name.slice(0, -transcriptSuffix.length)
}
