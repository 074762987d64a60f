import { describe, expect, it } from 'vitest'
import { makePrinter, type Printer, type PrinterOptions } from '../../commands/terminal/printer.ts'
import { collect } from './_run.ts'

const evil = '\u001b[31mred\u001b]0;title\u0007\r'

function print(action: (printer: Printer) => void, options: Partial<PrinterOptions> = {}) {
  const stdout = collect()
  const stderr = collect()
  action(
    makePrinter({
      stdout: stdout.stream,
      stderr: stderr.stream,
      terminals: { stdout: false, stderr: false },
      columns: 40,
      quiet: false,
      nul: false,
      ...options,
    }),
  )
  return { stdout: stdout.text(), stderr: stderr.text() }
}

const terminal = { terminals: { stdout: true, stderr: true } }

describe('data', () => {
  it('goes to stdout unchanged in a pipe', () => {
    expect(print((p) => p.data(evil))).toEqual({ stdout: `${evil}\n`, stderr: '' })
  })

  it('ends in one line break, whether the text has one or not', () => {
    expect(print((p) => p.data('a\n')).stdout).toBe('a\n')
    expect(print((p) => p.data('a')).stdout).toBe('a\n')
  })

  it('loses control characters on a terminal', () => {
    expect(print((p) => p.data(evil), terminal).stdout).toBe('red\n')
  })

  it('is JSON on one line, in which controls are escaped anyway', () => {
    expect(print((p) => p.json({ text: '\u001b\n', none: null, list: [] }), terminal).stdout).toBe(
      '{"text":"\\u001b\\n","none":null,"list":[]}\n',
    )
  })

  it('is JSON that no terminal obeys, and that says the same', () => {
    const controls = Array.from({ length: 0xa1 }, (_, code) => String.fromCharCode(code)).join('')
    const value = { [`key${controls}`]: controls, list: ['\u009b31m', '\u0085', '\u007f', 'é€😀'] }
    for (const options of [{}, terminal]) {
      const { stdout } = print((p) => p.json(value), options)
      expect(JSON.parse(stdout)).toEqual(value)
      expect(stdout.slice(0, -1)).not.toMatch(/\p{Cc}/u)
      expect(stdout).toContain('é€😀')
    }
    expect(print((p) => p.json('\u007f\u0080\u009f\u00a0')).stdout).toBe('"\\u007f\\u0080\\u009f\u00a0"\n')
  })

  it('has no half of a surrogate pair, which strict parsers refuse', () => {
    expect(print((p) => p.json({ '\ud800': '\udc00 \u{1f600}' })).stdout).toBe(
      '{"\ufffd":"\ufffd \u{1f600}"}\n',
    )
  })
})

describe('records', () => {
  const rows = [
    ['*', 'one', null, 3, 'free text'],
    ['', 'longer', 'x', 12, 'tab\there'],
  ]

  it('are TAB-separated and escaped in a pipe', () => {
    expect(print((p) => p.records(rows)).stdout).toBe('*\tone\t\t3\tfree text\n\tlonger\tx\t12\ttab\\there\n')
  })

  it('are raw and end in NUL with -z', () => {
    expect(print((p) => p.records([['a\nb', 'c\\']]), { nul: true }).stdout).toBe('a\nb\tc\\\0')
  })

  it('are aligned on a terminal', () => {
    expect(print((p) => p.records(rows), terminal).stdout).toBe(
      '*  one        3   free text\n   longer  x  12  tab here\n',
    )
  })

  it('are cut at the width of the terminal, in the free text only', () => {
    const row = ['id', 'a text that is longer than the forty cells of this terminal']
    expect(print((p) => p.records([row]), terminal).stdout).toBe('id  a text that is longer than the fort…\n')
  })

  it('carry no control character to a terminal', () => {
    expect(print((p) => p.records([['id', `${evil}x\ny`]]), terminal).stdout).toBe('id  redx y\n')
  })

  it('print nothing when there are none', () => {
    expect(print((p) => p.records([]), terminal)).toEqual({ stdout: '', stderr: '' })
  })
})

describe('news', () => {
  const all = (p: Printer) => {
    p.note('note')
    p.hint('do this')
    p.warn('careful')
    p.progress('step')
    p.error('it broke', 'mend it')
    p.error('no way on', null)
  }

  it('goes to stderr, never to stdout', () => {
    expect(print(all)).toEqual({
      stdout: '',
      stderr:
        'note\nhint: do this\nwarning: careful\nstep\nerror: it broke\nhint: mend it\nerror: no way on\n',
    })
  })

  it('leaves only errors with --quiet', () => {
    expect(print(all, { quiet: true }).stderr).toBe('error: it broke\nhint: mend it\nerror: no way on\n')
  })

  it('loses control characters where stderr is a terminal', () => {
    const outcome = print((p) => p.error(evil, evil), { terminals: { stdout: false, stderr: true } })
    expect(outcome.stderr).toBe('error: red\nhint: red\n')
  })
})
