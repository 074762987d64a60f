import { chainDigest, ROOT_DIGEST } from './digest.ts'
import { deriveMessageId, type MessageId } from './ids.ts'
import { tryDecodeLine } from './json.ts'
import type { Message } from './message.ts'
import {
  type CassRecord,
  type MessageRecord,
  type MetaRecord,
  messageOfRecord,
  tryParseRecord,
} from './record.ts'

/** A message of a chat file, under the id that every reader of the same bytes derives. */
export interface OldMessage {
  readonly id: MessageId
  /** Chain digest up to and with this message. */
  readonly digest: string
  readonly message: Message
}

/** A line that was left out, or of which only a part was taken. `line` counts from 1. */
export interface OldChatProblem {
  readonly line: number
  readonly reason: string
}

/** What a chat file of another program, or an older one, holds. */
export interface OldChat {
  /** Null: no line of the file is a meta record. */
  readonly meta: MetaRecord | null
  readonly messages: ReadonlyArray<OldMessage>
  readonly problems: ReadonlyArray<OldChatProblem>
  /** Bytes of the file, and whether its last line is ended. */
  readonly size: number
  readonly endsWithBreak: boolean
}

const NEWLINE = 0x0a
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const RECORD_START = '{"type":"'
/** Bounds the work on one bad line. */
const MAX_TRIES = 64

/**
 * Reads a chat file of any age: bad lines are reported and skipped, everything else is kept. `branch` is the chat
 * id that the file is named by.
 */
export function parseOldChat(bytes: Uint8Array, branch: string): OldChat {
  let meta: MetaRecord | null = null
  const messages: OldMessage[] = []
  const problems: OldChatProblem[] = []
  let digest = ROOT_DIGEST
  for (const { line, text } of linesOf(bytes)) {
    const found = text === null ? null : recordOfLine(text)
    if (found === null || text === null) {
      const reason = text === null ? 'not UTF-8 text, or with NUL bytes' : 'not a record'
      problems.push({ line, reason })
      continue
    }
    if (!found.isWhole) problems.push({ line, reason: 'a record behind the torn start of another' })
    const { record } = found
    if (record.type !== 'meta') {
      const old = oldMessageOf(record, {
        branch,
        index: messages.length,
        digest,
        systemTs: meta?.created_at ?? '',
      })
      digest = old.digest
      messages.push(old)
    } else if (meta === null) {
      meta = record
    } else {
      problems.push({ line, reason: 'a second meta record' })
    }
  }
  if (meta === null) problems.push({ line: 1, reason: 'the file has no meta record' })
  return { meta, messages, problems, size: bytes.length, endsWithBreak: bytes.at(-1) === NEWLINE }
}

function oldMessageOf(
  record: MessageRecord,
  {
    branch,
    index,
    digest,
    systemTs,
  }: { readonly branch: string; readonly index: number; readonly digest: string; readonly systemTs: string },
): OldMessage {
  const message = messageOfRecord(record, systemTs)
  const running = chainDigest(digest, message)
  return { id: deriveMessageId(branch, index, running), digest: running, message }
}

/** The lines that are not blank, without their ends; null for bytes that are no text. */
function* linesOf(bytes: Uint8Array): Generator<{ readonly line: number; readonly text: string | null }> {
  let start = BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? BYTE_ORDER_MARK.length : 0
  for (let line = 1; start < bytes.length; line++) {
    const next = bytes.indexOf(NEWLINE, start)
    const end = next === -1 ? bytes.length : next
    const text = tryDecodeLine(bytes.subarray(start, end))
    if (text === null || text.trim() !== '') yield { line, text }
    start = end + 1
  }
}

function recordOfLine(text: string): { readonly record: CassRecord; readonly isWhole: boolean } | null {
  const whole = tryParseRecord(text)
  if (whole !== null) return { record: whole, isWhole: true }
  // The other program appends to a torn line without starting a new one, so a whole record may stand at its end.
  let at = text.indexOf(RECORD_START, 1)
  for (let tries = 0; at !== -1 && tries < MAX_TRIES; tries++) {
    const record = tryParseRecord(text.slice(at))
    if (record !== null) return { record, isWhole: false }
    at = text.indexOf(RECORD_START, at + 1)
  }
  return null
}
