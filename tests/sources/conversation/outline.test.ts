import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MessageEntry, stringifyEntry, tryParseEntry } from '../../../sources/conversation/entry.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { outlineMessage } from '../../../sources/conversation/outline.ts'
import { LogScanner, type ScannedLine } from '../../../sources/conversation/scan.ts'
import { anyMessage, anyText, assistant, call, TS, user } from './_messages.ts'

function lineOf(message: Message): Buffer {
  const place = { type: 'message', id: 'm', head: 'main', writer: 'w', turn: 't', at: TS } as const
  const entry: MessageEntry = {
    ...place,
    parent: 'p',
    digest: 'd'.repeat(64),
    fs: 1,
    ws: 'k',
    msgs: [message],
  }
  return Buffer.from(stringifyEntry(entry))
}

function wholeMessage(line: Buffer): Message {
  const entry = tryParseEntry(line.toString('utf8'))
  if (entry?.type !== 'message') throw new Error('not a message')
  return entry.msgs[0]
}

/** Long text made of pieces that look like JSON, escapes and characters of every width. */
const anyLongText = fc
  .array(
    fc.oneof(
      anyText,
      fc.constantFrom(
        '","',
        '",',
        '\\',
        '\\"',
        '"}]}',
        '"}',
        '{"role":"tool"',
        '\\u',
        '\\ud83d',
        '😀',
        'é',
        '\n',
        '"',
      ),
      fc.constantFrom('x'.repeat(300), 'é'.repeat(300), '😀'.repeat(200), '\\'.repeat(301), '"'.repeat(257)),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''))
const anyLongMessage: fc.Arbitrary<Message> = fc
  .record({
    message: anyMessage,
    content: anyLongText,
    reasoning: anyLongText,
    args: anyLongText,
    isLong: fc.boolean(),
  })
  .map(({ message, content, reasoning, args, isLong }) => {
    if (!isLong) return message
    if (message.role !== 'assistant') return { ...message, content }
    const calls = [...(message.tool_calls ?? []), call('long', args)]
    return { ...message, content, reasoning_content: reasoning, tool_calls: calls }
  })

describe('the outline of a message', () => {
  it('has its role, calls and ids, and the start of its text, whatever the text', () => {
    fc.assert(
      fc.property(anyLongMessage, (message) => {
        const line = lineOf(message)
        const whole = wholeMessage(line)
        const outline = outlineMessage(line)
        expect(outline).not.toBeNull()
        if (outline === null) return
        const { content, reasoning_content: reasoning, ...rest } = outline
        const { content: wholeContent, reasoning_content: wholeReasoning, ...wholeRest } = whole
        expect(wholeContent.startsWith(content)).toBe(true)
        expect((wholeReasoning ?? '').startsWith(reasoning ?? '')).toBe(true)
        expect(content).toBe(content.replace(/\p{Surrogate}/gu, '?'))
        if (wholeContent.length > 96) expect(content.length).toBeGreaterThanOrEqual(80)
        else expect(content).toBe(wholeContent)
        // A field of reasoning may be long too; what lists need is whole.
        expect({ ...rest, ts: TS }).toEqual({ ...wholeRest, ts: TS })
      }),
      { numRuns: 3000 },
    )
  })

  it('is cut short for long texts', () => {
    const outline = outlineMessage(lineOf(user('word '.repeat(100_000))))
    expect(outline?.content.length).toBeLessThan(600)
  })

  it('is none for a line that is no message', () => {
    for (const line of ['', 'x', '{}', '{"type":"message"}', '{"msgs":[]}', '{"msgs":[{"role":"nobody"}]}'])
      expect(outlineMessage(Buffer.from(line))).toBeNull()
    expect(
      outlineMessage(Buffer.from(`{"schema_version":2,"msgs":[{"role":"user",${'x'.repeat(2000)}`)),
    ).toBeNull()
  })
})

function scan(chunks: ReadonlyArray<Buffer>): { lines: ScannedLine[]; end: number; torn: boolean } {
  const scanner = new LogScanner(0)
  const lines: ScannedLine[] = []
  for (const chunk of chunks) scanner.push(chunk, (line) => lines.push(line))
  return { ...scanner.finish((line) => lines.push(line)), lines }
}

describe('scanning', () => {
  const anyLine = fc.oneof(
    { weight: 4, arbitrary: anyLongMessage.map((message) => lineOf(message).toString('utf8')) },
    fc.constantFrom(
      '{"schema_version":2,"type":"retire","head":"h"}',
      'garbage',
      '',
      '{"a":1}',
      '{"schema_version":2,"type":"mes',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\n', '')),
  )

  it('says the same of every line, however the bytes are cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(anyLine, { maxLength: 8 }),
        fc.boolean(),
        fc.array(fc.nat(5000)),
        (lines, ends, cuts) => {
          const bytes = Buffer.from(lines.join('\n') + (ends ? '\n' : ''))
          const places = [
            0,
            ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b),
            bytes.length,
          ]
          const chunks = places.slice(1).map((end, at) => Buffer.from(bytes.subarray(places[at], end)))
          expect(scan(chunks)).toEqual(scan([bytes]))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('agrees with parsing the whole line about what a message is', () => {
    fc.assert(
      fc.property(anyLongMessage, (message) => {
        const line = lineOf(message)
        const { lines, end } = scan([Buffer.concat([line, Buffer.from('\n')])])
        const entry = tryParseEntry(line.toString('utf8'))
        const header = { id: 'm', head: 'main', writer: 'w', turn: 't', at: TS, parent: 'p', fs: 1, ws: 'k' }
        const role = entry?.type === 'message' ? entry.msgs[0].role : null
        expect(lines).toEqual([{ type: 'message', header, role, offset: 0, length: line.length }])
        expect(end).toBe(line.length + 1)
      }),
    )
  })

  it('counts a last line without its end only when it parses', () => {
    const line = lineOf(assistant('done'))
    for (let cut = 1; cut < line.length; cut++) {
      expect(scan([line.subarray(0, cut)])).toEqual({ lines: [], end: 0, torn: true })
    }
    expect(scan([line])).toMatchObject({ lines: [{ type: 'message' }], end: line.length, torn: false })
  })

  it('reads whole entries behind a torn one on the same line', () => {
    const line = lineOf(user('whole'))
    const torn = line.subarray(0, 150)
    const { lines } = scan([Buffer.concat([torn, line, Buffer.from('\n'), line, line, Buffer.from('\n')])])
    expect(lines.slice(0, 2)).toMatchObject([
      { type: 'hole', offset: 0, length: 150 },
      { type: 'message', offset: 150, length: line.length },
    ])
  })
})
