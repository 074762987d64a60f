import { readdirSync, readFileSync } from 'node:fs'
import type { LogEntry } from '../../../sources/conversation/entry.ts'
import { conversationsFolder } from '../../../sources/conversation/paths.ts'
import { saveConversation } from '../../../sources/conversation/save.ts'
import { assistant, call, result } from './_messages.ts'
import { Client, makeRoot, newChat, newId, now } from './_store.ts'

/** Appends what a command plans, without a standing. */
export async function append(client: Client, plan: () => LogEntry[]): Promise<void> {
  await saveConversation(client.conversation, { writer: client.writer, now, plan })
}

/** A new branch and the entry that makes it. */
export function fork(
  client: Client,
  from: string | null,
  name: string | null = null,
): { head: string; entry: LogEntry } {
  const head = newChat()
  const base = { writer: client.writer.id, at: now().toISOString(), head: 'main', new_head: head } as const
  const checkpoint = { record_index: 2, label: 'user: a label' }
  return { head, entry: { ...base, type: 'fork', from, kind: 'fork', name, checkpoint } }
}

/** A conversation with two more branches, one of them concurrent, and a turn with calls. */
export async function makeFamily(): Promise<{ root: string; client: Client; heads: string[] }> {
  const root = makeRoot()
  const client = await Client.begin(root)
  const [, question = ''] = await client.say(['system', 'question'])
  const turn = newId()
  await client.save([
    { type: 'begin', turn },
    {
      type: 'message',
      id: newId(),
      turn,
      fs: 1,
      ws: 'w',
      message: assistant('look', call('c', '{"b":1,"a":"é"}')),
    },
    { type: 'message', id: newId(), turn, fs: 2, ws: 'w', message: result('c', 'lone \ud800') },
    { type: 'end', turn },
  ])
  const other = await Client.open(root)
  await client.say(['more'])
  await other.say(['beside'])
  const { head, entry } = fork(client, question, 'try')
  await append(client, () => [entry])
  const branch = await Client.open(root, head)
  await branch.say(['on the branch'])
  return { root, client, heads: ['main', other.standing.head, head] }
}

/** All but the log and the lock, by name. */
export function derivedFiles(root: string): Map<string, string> {
  const names = readdirSync(conversationsFolder(root)).filter((name) => !/\.(lock|events\.jsonl)$/.test(name))
  return new Map(names.map((name) => [name, readFileSync(`${conversationsFolder(root)}/${name}`, 'latin1')]))
}
