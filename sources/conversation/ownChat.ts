import type { Conversation } from './conversation.ts'
import { tryDecodeLine } from './json.ts'
import { type MetaRecord, stringifyRecord, tryParseRecord } from './record.ts'

export interface OwnChatOptions {
  readonly copyId: string
  /** The chat in whose transcript the bytes stood. */
  readonly parent: string
  readonly conversation: Conversation
}

/**
 * The bytes of a transcript as a chat of their own. Whoever wrote to the file may have written to its first line too, so that
 * line keeps its own text: only what ties it to our log is taken out, and it gets its new id and parent. A first line that is
 * no meta record stays behind one that is made for it.
 */
export function asOwnChat(bytes: Buffer, options: OwnChatOptions): Buffer {
  const { copyId, parent, conversation } = options
  const newline = bytes.indexOf(0x0a)
  const end = newline === -1 ? bytes.length : newline
  const line = tryDecodeLine(bytes.subarray(0, end))
  const first = line === null ? null : changeMeta(line, options)
  if (first !== null) return Buffer.concat([Buffer.from(`${first}\n`), bytes.subarray(end + 1)])
  const { created_at, model, cwd } = conversation.meta
  const meta: MetaRecord = {
    ...{ type: 'meta', chat_id: copyId, created_at, model, cwd, parent_chat_id: parent },
  }
  return Buffer.concat([Buffer.from(`${stringifyRecord(meta)}\n`), bytes])
}

/** Null when the line is no meta record, or says one thing twice, which a change could not keep. */
function changeMeta(line: string, { copyId, parent, conversation }: OwnChatOptions): string | null {
  if (tryParseRecord(line)?.type !== 'meta') return null
  const members = membersOf(line)
  const places = new Map(members.map((member) => [member.key, member]))
  const cwd = places.get('cwd')
  const last = members.at(-1)
  if (places.size !== members.length || cwd === undefined || last === undefined) return null
  const changes: Change[] = []
  const was: string[] = []
  const set = (key: string, { value, known }: { readonly value: string | null; readonly known: string }) => {
    const member = places.get(key)
    if (member === undefined) {
      if (value !== null) changes.push({ from: cwd.end, to: cwd.end, text: `,"${key}":${value}` })
      return
    }
    const old = line.slice(member.value, member.end)
    if (old !== known && old !== 'null') was.push(`"${key}":${old}`)
    if (value === null) changes.push({ ...extentOf(members, member), text: '' })
    else changes.push({ from: member.value, to: member.end, text: value })
  }
  set('chat_id', { value: JSON.stringify(copyId), known: JSON.stringify(parent) })
  set('parent_chat_id', { value: JSON.stringify(parent), known: JSON.stringify(parent) })
  set('conversation', { value: null, known: JSON.stringify(conversation.id) })
  set('head', { value: null, known: JSON.stringify(conversation.headOf(parent)) })
  if (was.length > 0) {
    const earlier = places.get('was')
    if (earlier === undefined) {
      changes.push({ from: last.end, to: last.end, text: `,"was":{${was.join(',')}}` })
    } else {
      was.push(line.slice(earlier.start, earlier.end))
      changes.push({ from: earlier.value, to: earlier.end, text: `{${was.join(',')}}` })
    }
  }
  return applyChanges(line, changes)
}

/** Where a member of a JSON object stands in its text. */
interface Member {
  readonly key: string
  readonly start: number
  readonly value: number
  readonly end: number
}

/** The members of a text that is one JSON object, in their order: a parsed value would tell neither order nor spelling. */
function membersOf(text: string): Member[] {
  const members: Member[] = []
  let depth = 0
  let name: Token | null = null
  let value: number | null = null
  let end = 0
  for (const token of tokensOf(text)) {
    const sign = text.charAt(token.start)
    if (depth === 1 && (sign === ',' || sign === '}')) {
      if (name !== null && value !== null)
        members.push({
          key: String(JSON.parse(text.slice(name.start, name.end))),
          start: name.start,
          value,
          end,
        })
      name = null
      value = null
    } else if (depth === 1 && name === null) {
      name = token
    } else if (depth === 1 && value === null && sign !== ':') {
      value = token.start
    }
    if (sign === '{' || sign === '[') depth++
    if (sign === '}' || sign === ']') depth--
    end = token.end
  }
  return members
}

interface Token {
  readonly start: number
  readonly end: number
}

/** The tokens of a JSON text: a string, one sign, or a run of anything else. */
function* tokensOf(text: string): Generator<Token> {
  const plain = /[^\s"{}[\],:]+/y
  for (let at = 0; at < text.length; ) {
    const start = at
    plain.lastIndex = at
    if (text.charAt(at) === '"') at = endOfString(text, at)
    else at = plain.test(text) ? plain.lastIndex : at + 1
    if (/\S/.test(text.charAt(start))) yield { start, end: at }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1
  return at + 1
}

/** The text to take out so that a member is gone, with the comma that stood for it. */
function extentOf(members: ReadonlyArray<Member>, member: Member): Pick<Change, 'from' | 'to'> {
  const position = members.indexOf(member)
  const before = members.slice(0, position)
  const next = members[position + 1]
  // At the beginning, also behind others that go, it takes the comma behind it along.
  if (next !== undefined && before.every(({ key }) => removed.has(key)))
    return { from: member.start, to: next.start }
  return { from: before.at(-1)?.end ?? member.start, to: member.end }
}

const removed: ReadonlySet<string> = new Set(['conversation', 'head'])

interface Change {
  readonly from: number
  readonly to: number
  readonly text: string
}

function applyChanges(text: string, changes: ReadonlyArray<Change>): string {
  let changed = ''
  let at = 0
  for (const { from, to, text: put } of changes.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    changed += text.slice(at, from) + put
    at = to
  }
  return changed + text.slice(at)
}
