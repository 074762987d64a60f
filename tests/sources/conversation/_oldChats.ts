import { mkdirSync, writeFileSync } from 'node:fs'
import { conversationsFolder, transcriptPath } from '../../../sources/conversation/paths.ts'
import { makeRoot } from './_store.ts'

/** The id of a chat that another program wrote. */
export const OLD = '2026-06-25-101533-0ld_'
/** Its first record. */
export const meta = {
  ...{ type: 'meta', chat_id: OLD, created_at: '2026-06-25T15:15:33.123456789+00:00', model: 'm', cwd: '/w' },
}
/** Its records. */
export const oldRecords = [
  meta,
  { type: 'system', content: 'You are Cassady.' },
  { type: 'user', content: 'old question', ts: '2026-06-25T15:15:34+00:00' },
  {
    ...{ type: 'assistant', content: '', reasoning: '', ts: '2026-06-25T15:15:35+00:00' },
    tool_calls: [{ id: 'call_0', name: 'read', arguments: { path: 'a' } }],
  },
  {
    type: 'tool',
    tool_call_id: 'call_0',
    name: 'read',
    ok: true,
    content: 'text',
    ts: '2026-06-25T15:15:36+00:00',
  },
]

/** A chat file of records, or of lines as they are. */
export function oldText(records: ReadonlyArray<unknown> = oldRecords): string {
  return records.map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`).join('')
}

/** A root with a chat of another program and nothing else. */
export function rootWithChat(text: string | Buffer = oldText(), id = OLD): string {
  const root = makeRoot()
  mkdirSync(conversationsFolder(root), { recursive: true })
  writeFileSync(transcriptPath(root, id), text)
  return root
}
