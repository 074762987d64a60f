import { isJsonObject, tryParseJson } from './json.ts'
import { isMessage, type Message } from './message.ts'

const bodyMark = Buffer.from(',"msgs":[{')
/** Lines up to this length are parsed whole: cheaper than looking for what to leave out. */
const wholeUpTo = 1024
/** How much of a long text is kept, in bytes: previews and labels need less. */
const keptText = 600

/**
 * A message with long texts cut: enough for lists of checkpoints, at a fraction of the cost of parsing the line.
 * Null when the line is no message.
 */
export function outlineMessage(line: Buffer): Message | null {
  const start = line.subarray(0, 4096).indexOf(bodyMark)
  if (line.length <= wholeUpTo || start === -1) return wholeMessage(line)
  const fields = readFields(line, start + bodyMark.length)
  return fields !== null && isMessage(fields) ? (fields as Message) : wholeMessage(line)
}

function wholeMessage(line: Buffer): Message | null {
  const entry = tryParseJson(line.toString('utf8'))
  if (!isJsonObject(entry) || !Array.isArray(entry.msgs)) return null
  const [message] = entry.msgs
  if (!isJsonObject(message)) return null
  const filled = { ...message, content: message.content ?? '', ts: message.ts ?? entry.at ?? '' }
  return isMessage(filled) ? (filled as Message) : null
}

/** The keys of the object that starts at `at`, or null when the bytes are not as JSON has them. */
function readFields(line: Buffer, at: number): Record<string, unknown> | null {
  const fields: Record<string, unknown> = {}
  for (let position = at; ; ) {
    if (line[position] !== 0x22) return null
    const keyEnd = endOfString(line, position)
    if (keyEnd === -1 || line[keyEnd] !== 0x3a) return null
    const key = line.toString('utf8', position + 1, keyEnd - 1)
    const valueStart = keyEnd + 1
    const valueEnd = line[valueStart] === 0x22 ? endOfString(line, valueStart) : endOfValue(line, valueStart)
    if (valueEnd === -1) return null
    fields[key] = readValue(line, valueStart, valueEnd)
    if (line[valueEnd] === 0x7d) return fields
    if (line[valueEnd] !== 0x2c) return null
    position = valueEnd + 1
  }
}

function readValue(line: Buffer, start: number, end: number): unknown {
  if (line[start] !== 0x22 || end - start <= keptText + 2)
    return tryParseJson(line.toString('utf8', start, end))
  // The cut may stand inside an escape or a character; the text that parses is at most a few bytes shorter.
  for (let cut = start + keptText; cut > start + keptText - 16; cut--) {
    if (((line[cut] ?? 0) & 0xc0) === 0x80) continue
    const text = tryParseJson(`${line.toString('utf8', start, cut)}"`)
    if (typeof text === 'string') return text
  }
  return ''
}

/** The position behind the string that starts at `start`, or -1. */
function endOfString(line: Buffer, start: number): number {
  for (let quote = line.indexOf(0x22, start + 1); quote !== -1; quote = line.indexOf(0x22, quote + 1)) {
    let slashes = 0
    while (line[quote - 1 - slashes] === 0x5c) slashes++
    if (slashes % 2 === 0) return quote + 1
  }
  return -1
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
