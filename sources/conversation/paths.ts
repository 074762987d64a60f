import path from 'node:path'

/** Where each file of a conversation stands below the root (docs/storage.md, files). Ids are checked before. */
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

export function transcriptPath(root: string, chatId: string): string {
  return path.join(conversationsFolder(root), `${chatId}.jsonl`)
}

export function writersFolder(root: string): string {
  return path.join(root, 'locks', 'writers')
}

export const logSuffix = '.events.jsonl'
const transcriptSuffix = '.jsonl'

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
