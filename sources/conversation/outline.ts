import { isJsonObject, tryParseJson } from './json.ts'
import type { Message } from './message.ts'

const bodyMark = Buffer.from(',"msgs":[{')
/** Lines up to this length are parsed whole: cheaper than looking for what to leave out. */
const wholeUpTo = 1024
/** How much of a long text is kept, in bytes: previews and labels need less. */
const keptText = 480
/** Ends most texts: the next key follows. Inside a text it can stand only behind an escaped quote. */
const nextKeyMark = Buffer.from('","')

/**
 * A message with long texts cut: enough for lists of checkpoints, at a fraction of the cost of parsing the line.
 * Null when the line is no message.
 */
export function outlineMessage(line: Buffer): Message | null {
  if (line.length > wholeUpTo) {
    const start = line.indexOf(bodyMark)
    const text = start === -1 || start > 4096 ? null : shortenTexts(line, start + bodyMark.length - 1)
    const message = text === null ? undefined : tryParseJson(text)
    if (isShapedLikeMessage(message)) return message
  }
  const entry = tryParseJson(line.toString('utf8'))
  if (!isJsonObject(entry) || !Array.isArray(entry.msgs) || !isJsonObject(entry.msgs[0])) return null
  const [message] = entry.msgs
  const filled = { ...message, content: message.content ?? '', ts: message.ts ?? entry.at ?? '' }
  return isShapedLikeMessage(filled) ? filled : null
}

/** What lists of checkpoints rely on; the whole check costs more than the parsing. */
function isShapedLikeMessage(value: unknown): value is Message {
  if (!isJsonObject(value) || typeof value.content !== 'string' || typeof value.ts !== 'string') return false
  const { role, tool_calls: calls } = value
  if (role !== 'user' && role !== 'assistant' && role !== 'tool' && role !== 'system') return false
  return calls === undefined || (Array.isArray(calls) && calls.every(isShapedLikeCall))
}

function isShapedLikeCall(call: unknown): boolean {
  return (
    isJsonObject(call) &&
    typeof call.id === 'string' &&
    typeof call.name === 'string' &&
    typeof call.arguments === 'string'
  )
}

/** The JSON of the object that starts at `at`, long texts among its values cut; null when it is not as JSON has it. */
function shortenTexts(line: Buffer, at: number): string | null {
  let text = ''
  let copied = at
  for (let position = at + 1; ; ) {
    if (line[position] !== 0x22) return null
    const keyEnd = endOfString(line, position)
    if (keyEnd === -1 || line[keyEnd] !== 0x3a) return null
    const start = keyEnd + 1
    const end = line[start] === 0x22 ? endOfText(line, start) : endOfValue(line, start)
    if (end === -1) return null
    if (line[start] === 0x22 && end - start > keptText) {
      text += `${line.toString('utf8', copied, safeCut(line, start))}"`
      copied = end
    }
    if (line[end] === 0x7d) return text + line.toString('utf8', copied, end + 1)
    if (line[end] !== 0x2c) return null
    position = end + 1
  }
}

/** A place to cut the text that starts at `start` which is inside no escape and no character. */
function safeCut(line: Buffer, start: number): number {
  // A blank is part of no escape; nearly every text has one, and looking for it is cheap.
  const blank = line.lastIndexOf(0x20, start + keptText)
  if (blank > start + keptText - 96) return blank
  let cut = start + keptText
  while (((line[cut] ?? 0) & 0xc0) === 0x80) cut--
  // The longest escape, a pair of surrogates, has twelve bytes.
  if (line.lastIndexOf(0x5c, cut) <= cut - 12) return cut
  let safe = start + 1
  for (let at = safe; at <= cut; at = nextCharacter(line, at)) safe = at
  return safe
}

/** The position behind the escape or the byte at `at`. */
function nextCharacter(line: Buffer, at: number): number {
  if (line[at] !== 0x5c) return at + 1
  if (line[at + 1] !== 0x75) return at + 2
  // The two halves of a pair belong together.
  return /^\\ud[89ab]..\\u/i.test(line.toString('latin1', at, at + 8)) ? at + 12 : at + 6
}

/**
 * The position behind a text that is the value of a key, or -1. Long ones (code, with hundreds of escaped quotes) are
 * passed over by looking for the next key instead of the next quote.
 */
function endOfText(line: Buffer, start: number): number {
  const mark = line.indexOf(nextKeyMark, start + 1)
  if (mark === -1) return endOfString(line, start)
  // Behind an escaped quote, the comma belongs to the text too, and the second quote ends it.
  return isEscaped(line, mark) ? mark + 3 : mark + 1
}

/** The position behind the string that starts at `start`, or -1. */
function endOfString(line: Buffer, start: number): number {
  for (let quote = line.indexOf(0x22, start + 1); quote !== -1; quote = line.indexOf(0x22, quote + 1)) {
    if (!isEscaped(line, quote)) return quote + 1
  }
  return -1
}

function isEscaped(line: Buffer, quote: number): boolean {
  let slashes = 0
  while (line[quote - 1 - slashes] === 0x5c) slashes++
  return slashes % 2 === 1
}

/** The position behind a number, word, list or object, or -1. */
function endOfValue(line: Buffer, start: number): number {
  let depth = 0
  for (let position = start; position < line.length; ) {
    const byte = line[position]
    if (byte === 0x22) {
      position = endOfString(line, position)
      if (position === -1) return -1
      continue
    }
    if (byte === 0x7b || byte === 0x5b) depth++
    if (depth === 0 && (byte === 0x2c || byte === 0x7d)) return position
    if (byte === 0x7d || byte === 0x5d) {
      depth--
      if (depth === 0) return position + 1
    }
    position++
  }
  return -1
}
