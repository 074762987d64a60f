import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseOldChat } from '../../../sources/conversation/oldChat.ts'
import { recordOfMessage, stringifyRecord } from '../../../sources/conversation/record.ts'
import { anyMessages, assistant, call, result, TS, user } from './_messages.ts'

const CHAT = '2026-06-25-101533-a_-9'
const meta = `{"type":"meta","chat_id":"${CHAT}","created_at":"${TS}","model":"m","cwd":"/w"}`
const records = [
  '{"type":"system","content":"rules"}',
  ...[
    user('hello'),
    assistant('', call('call_0')),
    result('call_0'),
    assistant('', call('call_0')),
    result('call_0'),
  ]
    .map(recordOfMessage)
    .map(stringifyRecord),
]
const parse = (text: string | Uint8Array) =>
  parseOldChat(typeof text === 'string' ? Buffer.from(text) : text, CHAT)
const contents = (text: string | Uint8Array) => parse(text).messages.map(({ message }) => message.content)

describe('old chats', () => {
  it('are read whole, with repeated call ids, blank lines, CRLF and a byte order mark', () => {
    const plain = parse(`${[meta, ...records].join('\n')}\n`)
    expect(plain.problems).toEqual([])
    expect(plain.meta).toMatchObject({ chat_id: CHAT, model: 'm' })
    expect(plain.messages.map(({ message }) => message.role).join()).toBe(
      'system,user,assistant,tool,assistant,tool',
    )
    const { messages, problems } = parse(`\ufeff${[meta, '', ...records].join('\r\n\r\n')}`)
    expect({ messages, problems }).toEqual({ messages: plain.messages, problems: [] })
  })

  it('give the same ids to every reader, and keep them when the chat grows', () => {
    fc.assert(
      fc.property(anyMessages, anyMessages, (messages, later) => {
        const lines = [...messages, ...later].map((message) => stringifyRecord(recordOfMessage(message)))
        const whole = parse([meta, ...lines].join('\n')).messages
        const before = parse([meta, ...lines.slice(0, messages.length)].join('\n')).messages
        expect(before).toEqual(whole.slice(0, messages.length))
        expect(new Set(whole.map(({ id }) => id)).size).toBe(lines.length)
      }),
    )
  })

  it.each<[string, Uint8Array, string]>([
    ['text that is no JSON', Buffer.from('{"type":"user","con'), 'not a record'],
    ['an unknown type', Buffer.from('{"type":"shrug"}'), 'not a record'],
    ['bad UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), 'not UTF-8 text, or with NUL bytes'],
    ['NUL bytes', new Uint8Array(8), 'not UTF-8 text, or with NUL bytes'],
    ['a second meta', Buffer.from(meta), 'a second meta record'],
  ])('keep everything around a line with %s, and report it', (_, bad, reason) => {
    const newline = Buffer.from('\n')
    const good = records.map((line) => Buffer.from(`${line}\n`))
    const bytes = Buffer.concat([
      Buffer.from(`${meta}\n`),
      ...good.slice(0, 2),
      bad,
      newline,
      ...good.slice(2),
    ])
    const chat = parse(bytes)
    expect(chat.messages).toEqual(parse([meta, ...records].join('\n')).messages)
    expect(chat.problems).toEqual([{ line: 4, reason }])
  })

  it('count a last line without its end when it is whole, and report it when it is torn', () => {
    expect(contents(`${meta}\n${records[1]}`)).toEqual(['hello'])
    const torn = parse(`${meta}\n${records[1]}\n${records[2]?.slice(0, 30)}`)
    expect(torn.messages).toHaveLength(1)
    expect(torn.problems).toEqual([{ line: 3, reason: 'not a record' }])
  })

  it('give up a record that was glued onto a torn one', () => {
    const glued = parse(`${meta}\n{"type":"user","content":"lo${records[1]}\n${records[2]}\n`)
    expect(glued.messages.map(({ message }) => message.content)).toEqual(['hello', ''])
    expect(glued.problems).toEqual([{ line: 2, reason: 'a record behind the torn start of another' }])
  })

  it('may lack a meta record, and any bytes are read without an error', () => {
    expect(parse(records.join('\n')).meta).toBeNull()
    expect(parse('').problems).toEqual([{ line: 1, reason: 'the file has no meta record' }])
    const whole = Buffer.from([meta, ...records].join('\n'))
    fc.assert(
      fc.property(
        fc.nat({ max: whole.length }),
        fc.uint8Array({ maxLength: 4 }),
        fc.nat({ max: 9 }),
        (at, put, cut) => {
          const damaged = Buffer.concat([whole.subarray(0, at), put, whole.subarray(at + cut)])
          // So few bytes stand in two lines at most.
          expect(parse(damaged).messages.length).toBeGreaterThanOrEqual(records.length - 2)
        },
      ),
    )
  })
})
