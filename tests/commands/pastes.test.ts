import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PasteReader } from '../../commands/terminal/pastes.ts'

it('finds a marked paste however the terminal cuts it', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '\r', '\n', '\u001b[A', '[', '2'))
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(30)), (pasted, cuts) => {
      const bytes = `x\u001b[200~${pasted}\u001b[201~y`
      const reader = new PasteReader({ escIsKey: false })
      const found = []
      let at = 0
      for (const cut of [...cuts, bytes.length]) {
        found.push(...reader.read(bytes.slice(at, at + cut)))
        at += cut
      }
      expect(found.filter(({ type }) => type === 'paste').map((paste) => paste.text)).toEqual([pasted])
      const keys = found.filter(({ type }) => type === 'keys').map((key) => key.text)
      expect(keys.join('')).toBe('xy')
    }),
  )
})

it.each([
  ['\r\r\r', ['keys', 'keys', 'keys']],
  ['hello\r', ['keys', 'keys']],
  ['\rhello', ['keys', 'keys']],
  ['one\rtwo', ['paste']],
  ['one\rtwo\r', ['paste', 'keys']],
  ['\u001b', ['keys']],
  ['', []],
])('takes %j without marks for %j', (text, types) => {
  expect(new PasteReader({ escIsKey: true }).read(text).map(({ type }) => type)).toEqual(types)
})

it('waits behind Esc where that means nothing, and forgets it before another key', () => {
  const reader = new PasteReader({ escIsKey: false })
  expect(reader.read('\u001b')).toEqual([])
  expect(reader.read('\r')).toEqual([{ type: 'keys', text: '\r' }])
  expect(reader.read('\u001b')).toEqual([])
  expect(reader.read('[A')).toEqual([{ type: 'keys', text: '\u001b[A' }])
})
