import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutToWidth, escapeCell, measureWidth, stripControls } from '../../commands/terminal/text.ts'

describe('stripControls', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['cursor moves', 'a\u001b[2Jb\u001b[1;1Hc', 'abc'],
    ['a title', '\u001b]0;evil\u0007text', 'text'],
    ['a link with ST', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['a clipboard write', '\u001b]52;c;ZXZpbA==\u0007x', 'x'],
    ['a device control string', '\u001bPq#0\u001b\\x', 'x'],
    ['8-bit CSI', '\u009b31mred', 'red'],
    ['8-bit OSC', '\u009d0;evil\u009ctext', 'text'],
    ['a charset switch', '\u001b(0x', 'x'],
    ['a reset', '\u001bcx', 'x'],
    ['an escape at the end', 'x\u001b', 'x'],
    ['an unfinished CSI', 'x\u001b[31', 'x31'],
    ['an unfinished OSC', 'x\u001b]0;y', 'x0;y'],
    ['carriage returns and backspaces', 'safe\r\b\bevil', 'safeevil'],
    ['bells, NUL and DEL', '\u0007a\u0000b\u007f', 'ab'],
    ['controls of direction', 'a\u202eb\u2066c\u200e\u200f\u061cd', 'abcd'],
    ['blanks without width and tags', 'a\u200b\u2060\ufeff\u{e0041}b', 'ab'],
    ['no joiner of a script', '\u0646\u200c\u0647', '\u0646\u200c\u0647'],
    ['line breaks and tabs, which stay', 'a\n\tb', 'a\n\tb'],
    ['plain text in any language', 'naïve 漢字 👩‍🚀', 'naïve 漢字 👩‍🚀'],
  ])('takes out %s', (_, text, expected) => {
    expect(stripControls(text)).toBe(expected)
  })

  it('leaves no control character in any text', () => {
    const pieces = [
      '\u001b',
      '[',
      ']',
      '0;',
      '\u0007',
      '\\',
      '\u009b',
      '\u009c',
      '\u0090',
      'm',
      'a',
      '\n',
      '\r',
      '\u0000',
    ]
    const anyText = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string())).map((parts) => parts.join(''))
    fc.assert(fc.property(anyText, (text) => !/(?![\n\t])\p{Cc}/u.test(stripControls(text))))
  })
})

describe('escapeCell', () => {
  it('escapes TAB, newline and backslash', () => {
    expect(escapeCell('a\tb\nc\\n')).toBe('a\\tb\\nc\\\\n')
  })

  it('can be undone, so that no two texts become one', () => {
    const undo = (cell: string) =>
      cell.replace(/\\(.)/g, (_, letter: string) => ({ t: '\t', n: '\n' })[letter] ?? '\\')
    fc.assert(fc.property(fc.string(), (text) => undo(escapeCell(text)) === text))
  })
})

describe('widths', () => {
  it.each([
    ['abc', 3],
    ['漢字', 4],
    ['e\u0301', 1],
    ['🚀', 2],
    ['', 0],
  ])('%s takes %i cells', (text, cells) => {
    expect(measureWidth(text)).toBe(cells)
  })

  it.each([
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['漢字漢字', 5, '漢字…'],
    ['漢字漢字', 4, '漢…'],
  ])('%s in %i cells is %s', (text, cells, expected) => {
    expect(cutToWidth(text, cells)).toBe(expected)
  })
})
