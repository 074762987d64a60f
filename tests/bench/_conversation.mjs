// Writes a conversation as the program writes it, of any size, without running it.
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const at = '2026-11-30T12:00:00.000Z'
const code =
  'export function greet(name: string): string {\n  return \'hello \' + JSON.stringify(name) + "!"\n}\n\n'

/** A log of `count` messages whose texts have about `size` characters, made the folder's current chat. */
export function writeConversation({ home, cwd, count, size }) {
  const chat = '2026-11-30-120000-bnch'
  const writer = 'bench-1-0123456789abcdef'
  const folder = join(home, 'conversations')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fd = openSync(join(folder, `${chat}.events.jsonl`), 'w', 0o600)
  const text = code.repeat(Math.ceil(size / code.length)).slice(0, size)
  let lines = []
  let bytes = 0
  const put = (entry) => {
    lines.push(JSON.stringify({ schema_version: 2, ...entry }))
    if (lines.length >= 500) flush()
  }
  const flush = () => {
    bytes += writeSync(fd, `${lines.join('\n')}\n`)
    lines = []
  }
  put({ type: 'log', writer, at, generation: 1, meta: { created_at: at, model: 'bench', cwd } })
  put({ type: 'writer', writer, at, pid: 1, hostname: 'bench' })
  let parent
  for (let index = 0; index < count; index++) {
    const id = messageId(index)
    put({
      ...{ type: 'message', id, head: 'main', writer, turn: messageId(1_000_000 + (index >> 2)), at },
      ...(parent === undefined ? {} : { parent }),
      ...{ digest: createHash('sha256').update(id).digest('hex'), fs: index, ws: '0123456789abcdef' },
      msgs: [messageAt(index, text)],
    })
    parent = id
  }
  flush()
  closeSync(fd)
  mkdirSync(join(home, 'heads'), { recursive: true, mode: 0o700 })
  const name = createHash('sha256').update(cwd).digest('hex').slice(0, 16)
  const head = openSync(join(home, 'heads', `${name}.json`), 'w', 0o600)
  writeSync(head, JSON.stringify({ folder: cwd, chat_id: chat, conversation: chat }))
  closeSync(head)
  return { chat, bytes }
}

/** Turns of a question, a call that reads a file, its result, and an answer. */
function messageAt(index, text) {
  if (index === 0) return { role: 'system', content: 'You are an agent.', ts: at }
  switch ((index - 1) % 4) {
    case 0:
      return { role: 'user', content: `question ${index}\n${text}`, ts: at }
    case 1: {
      const args = JSON.stringify({ files: [{ path: `src/file-${index}.ts` }] })
      const calls = [{ id: `call_${index}`, name: 'read', arguments: args }]
      return { role: 'assistant', content: `I read it. ${text}`, tool_calls: calls, ts: at }
    }
    case 2:
      return {
        role: 'tool',
        content: text,
        tool_call_id: `call_${index - 1}`,
        name: 'read',
        ok: true,
        ts: at,
      }
    default:
      return { role: 'assistant', content: `answer ${index}\n${text}`, ts: at }
  }
}

function messageId(index) {
  let time = ''
  for (let rest = 1_780_000_000_000 + index, digit = 0; digit < 10; digit++) {
    time = base32[rest % 32] + time
    rest = Math.floor(rest / 32)
  }
  return time + Array.from(randomBytes(16), (byte) => base32[byte & 31]).join('')
}
