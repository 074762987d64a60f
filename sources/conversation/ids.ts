import { createHash } from 'node:crypto'

/** 128 bits as 26 characters of Crockford's base 32: 48 bits Unix milliseconds, 80 random bits (ULID). */
export type MessageId = string & { readonly __messageId: true }
/** Names a branch, and its transcript: local time and four random characters, `2026-06-25-101533-a_-9`. */
export type ChatId = string & { readonly __chatId: true }
/** Names one living process: `<host>-<pid>-<16 hex>`. */
export type WriterId = string & { readonly __writerId: true }

const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** The alphabet of nanoid, which the other program draws from. */
const BASE64 = '_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const MESSAGE_ID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const CHAT_ID = /^\d{4}-\d{2}-\d{2}-\d{6}-[A-Za-z0-9_-]{4}$/
const WRITER_ID = /^(.+)-(\d+)-([0-9a-f]{16})$/
const MAX_HOST_LENGTH = 100
const MAX_COMPONENT_BYTES = 200

/** A message id (turn ids are made alike) from the time and 10 random bytes. */
export function makeMessageId(nowMs: number, random10: Uint8Array): MessageId {
  const bytes = new Uint8Array(16)
  for (let at = 5, rest = nowMs; at >= 0; at--) {
    bytes[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  bytes.set(random10.subarray(0, 10), 6)
  return messageIdOfBytes(bytes)
}

/** Whether a text has the shape of a message id. */
export function isMessageId(text: string): text is MessageId {
  return MESSAGE_ID.test(text)
}

/**
 * The id of a message that was stored without one. Two processes that read the same bytes agree on it.
 * `index` counts the messages from 0; `runningDigest` is the chain digest up to and with the message.
 */
export function deriveMessageId(branch: string, index: number, runningDigest: string): MessageId {
  const hash = createHash('sha256')
  hash.update(['reasonix-legacy-entry-v1', branch, String(index), runningDigest].join('\0'))
  return messageIdOfBytes(hash.digest().subarray(0, 16))
}

function messageIdOfBytes(bytes: Uint8Array): MessageId {
  let text = ''
  let bits = 0
  // 26 characters hold 130 bits: the two spare ones lead, as zeros.
  let count = 2
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    count += 8
    while (count >= 5) {
      count -= 5
      text += BASE32.charAt((bits >>> count) & 31)
    }
    bits &= (1 << count) - 1
  }
  return text as MessageId
}

/** A chat id from the time, the local offset in minutes east of UTC, and 4 random bytes. */
export function makeChatId({
  nowMs,
  offsetMinutes,
  random4,
}: {
  readonly nowMs: number
  readonly offsetMinutes: number
  readonly random4: Uint8Array
}): ChatId {
  const local = new Date(nowMs + offsetMinutes * 60_000).toISOString()
  return `${local.slice(0, 10)}-${local.slice(11, 19).replaceAll(':', '')}-${nanoid(random4)}` as ChatId
}

/** Whether a text has the shape of a chat id. */
export function isChatId(text: string): text is ChatId {
  return CHAT_ID.test(text)
}

/**
 * The chat id of a copy, derived from the bytes of the copied file: it keeps the original's time, so that both
 * stand together in lists. `attempt` (from 0) gives another id when that one is taken by other bytes.
 */
export function deriveChatId(original: string, bytes: Uint8Array, attempt: number): ChatId {
  const hash = createHash('sha256').update(bytes).update(`\0${attempt}`).digest()
  const prefix = isChatId(original) ? original.slice(0, 17) : '2000-01-01-000000'
  return `${prefix}-${nanoid(hash)}` as ChatId
}

function nanoid(bytes: Uint8Array): string {
  return Array.from(bytes.subarray(0, 4), (byte) => BASE64.charAt(byte & 63)).join('')
}

/** The id of a process, made once in its life from its host's name, its pid and 8 random bytes. */
export function makeWriterId(hostname: string, pid: number, random8: Uint8Array): WriterId {
  // The id is the name of a file, so a row of dots is none of it.
  const host = hostname.replace(/[^A-Za-z0-9._-]|\.(?=\.)/g, '-').slice(0, MAX_HOST_LENGTH)
  const nonce = Array.from(random8.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${host === '' ? 'unknown-host' : host}-${pid}-${nonce}` as WriterId
}

/** The parts of a writer id, or null when it is none. */
export function tryParseWriterId(text: string): { readonly hostname: string; readonly pid: number } | null {
  const [, hostname, pid] = WRITER_ID.exec(text) ?? []
  return hostname === undefined || pid === undefined ? null : { hostname, pid: Number(pid) }
}

/** Whether an id from outside may become one component of a path. */
export function isSafeComponent(id: string): boolean {
  if (id === '' || id === '.' || id.includes('..') || Buffer.byteLength(id) > MAX_COMPONENT_BYTES)
    return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return !/[/\\\u0000-\u001f\u007f-\u009f\ud800-\udfff]/u.test(id)
}
