import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  deriveChatId,
  deriveMessageId,
  isChatId,
  isMessageId,
  isSafeComponent,
  makeChatId,
  makeMessageId,
  makeWriterId,
  tryParseWriterId,
} from '../../../sources/conversation/ids.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

describe('message ids', () => {
  it('hold the time in the first ten characters, as ULIDs do', () => {
    expect(makeMessageId(1_469_918_176_385, new Uint8Array(10))).toBe('01ARYZ6S410000000000000000')
    expect(makeMessageId(2 ** 48 - 1, new Uint8Array(10).fill(255))).toBe('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')
  })

  it('sort by time', () => {
    const time = fc.nat({ max: 2 ** 47 })
    fc.assert(
      fc.property(time, time, bytes(10), bytes(10), (a, b, r, s) => {
        fc.pre(a < b)
        expect(makeMessageId(a, r) < makeMessageId(b, s)).toBe(true)
        expect(isMessageId(makeMessageId(a, r))).toBe(true)
      }),
    )
  })

  it('are derived from the branch, the index and the digest, each of which matters', () => {
    const ids = [
      deriveMessageId('main', 0, 'ab'),
      deriveMessageId('main', 1, 'ab'),
      deriveMessageId('main', 0, 'ac'),
      deriveMessageId('other', 0, 'ab'),
    ]
    expect(ids[0]).toBe('5G6H15ZE7W2G16CQATP1RAEAJ4')
    expect(new Set(ids).size).toBe(4)
    expect(ids.every(isMessageId)).toBe(true)
  })
})

describe('chat ids', () => {
  it('hold the local time and four characters', () => {
    const nowMs = Date.UTC(2026, 5, 25, 23, 15, 33)
    expect(makeChatId({ nowMs, offsetMinutes: 120, random4: Uint8Array.of(12, 0, 1, 75) })).toBe(
      '2026-06-26-011533-a_-9',
    )
  })

  it('of copies are the same for the same bytes, and keep the time of the original', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (content) => {
        const id = deriveChatId('2026-06-25-101533-a_-9', content, 0)
        expect(id).toMatch(/^2026-06-25-101533-/)
        expect(isChatId(id)).toBe(true)
        expect(deriveChatId('2026-06-25-101533-a_-9', content, 0)).toBe(id)
        expect(isChatId(deriveChatId('notes', content, 1))).toBe(true)
      }),
    )
    const of = (text: string, attempt: number) => deriveChatId('notes', Buffer.from(text), attempt)
    expect(new Set([of('a', 0), of('b', 0), of('a', 1)]).size).toBe(3)
  })

  it.each(['', '2026-06-25', '2026-06-25-101533-a_-', '2026-06-25-101533-a_-9x', '2026-06-25-101533-a/-9'])(
    'do not have the shape of %j',
    (text) => expect(isChatId(text)).toBe(false),
  )
})

describe('writer ids', () => {
  it('hold the host in safe letters, the pid and a nonce', () => {
    expect(makeWriterId('my host/ä', 42, new Uint8Array(8).fill(171))).toBe('my-host---42-abababababababab')
    expect(makeWriterId('', 7, new Uint8Array(8))).toBe('unknown-host-7-0000000000000000')
  })

  it('give host and pid back, and are safe as a file name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), bytes(8), (host, pid, nonce) => {
        const id = makeWriterId(host, pid, nonce)
        expect(tryParseWriterId(id)?.pid).toBe(pid)
        expect(id).toMatch(/^[A-Za-z0-9._-]+$/)
      }),
    )
    expect(tryParseWriterId('a-b-12-00000000000000ff')).toEqual({ hostname: 'a-b', pid: 12 })
    expect(tryParseWriterId('a-b-12')).toBeNull()
  })
})

it.each([
  ['2026-06-25-101533-a_-9', true],
  ['call_0', true],
  ['a'.repeat(200), true],
  ['', false],
  ['.', false],
  ['..', false],
  ['../x', false],
  ['a..b', false],
  ['a/b', false],
  ['a\\b', false],
  ['a\0b', false],
  ['a\nb', false],
  ['a\ud800', false],
  ['ä'.repeat(101), false],
])('the id %j is safe as one component of a path: %s', (id, isSafe) => {
  expect(isSafeComponent(id)).toBe(isSafe)
})
