import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { openKeyboard } from '../../commands/terminal/keyboard.ts'
import { markPastes } from '../../commands/terminal/pastes.ts'
import { collect } from './_run.ts'

function open() {
  const modes: boolean[] = []
  const stdin = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => void modes.push(isRaw) })
  const stderr = collect()
  const stops: string[] = []
  let goOn = () => {}
  const jobs = {
    stop: () => void stops.push('stopped'),
    onContinue(listener: () => void) {
      goOn = listener
      return () => {}
    },
  }
  const keyboard = openKeyboard({ stdin, stderr: stderr.stream, jobs })
  return { stdin, stderr, keyboard, modes, stops, goOn: () => goOn() }
}

it('gives what was typed up to Enter', async () => {
  const { stdin, keyboard } = open()
  const asked = keyboard.ask('> ')
  for (const key of ['h', 'i', '\r']) stdin.write(key)
  expect(await asked).toBe('hi')
})

it.each([
  ['marked by the terminal', ['\u001b[200~one\rtwo\r\rthree\u001b[201~', '\r'], 'one\ntwo\n\nthree'],
  ['marked, with a last line break', ['\u001b[200~one\ntwo\n\u001b[201~', '\r'], 'one\ntwo\n'],
  ['marked and cut anywhere', ['\u001b[20', '0~one\r', 'two\u001b[2', '01~', '\r'], 'one\ntwo'],
  ['marked, within a sentence', ['see: ', '\u001b[200~one\rtwo\u001b[201~', ' ok', '\r'], 'see: one\ntwo ok'],
  ['not marked, in one read', ['one\rtwo\r\rthree\r'], 'one\ntwo\n\nthree'],
  ['not marked, in two reads', [`${'x'.repeat(1200)}\ry`, 'es\rtwo\r'], `${'x'.repeat(1200)}\nyes\ntwo`],
  ['of one line', ['\u001b[200~one line\n\u001b[201~', '\r'], 'one line'],
  ['of several pastes', ['\u001b[200~a\rb\u001b[201~', '\u001b[200~c\rd\u001b[201~', '\r'], 'a\nbc\nd'],
])('makes one message of a paste %s', async (_, chunks, message) => {
  const { stdin, keyboard } = open()
  const asked = keyboard.ask('> ')
  for (const chunk of chunks) stdin.write(chunk)
  expect(await asked).toBe(message)
})

it('shows the lines of a paste, long ones shortened, and nothing that a terminal would obey', async () => {
  const { stdin, stderr, keyboard } = open()
  const asked = keyboard.ask('> ')
  const lines = Array.from({ length: 30 }, (_, index) => `line${index}`)
  stdin.write(`\u001b[200~${lines.join('\r')}\u001b]0;title\u0007\u001b[201~`)
  stdin.write('\r')
  expect(await asked).toBe(lines.join('\n'))
  expect(stderr.text()).toContain('[pasted 30 lines #1]')
  expect(stderr.text()).toContain('  │ line0\n')
  expect(stderr.text()).toContain('  │ … 25 more lines\n  │ line29\n')
  expect(stderr.text()).not.toContain('title')
})

it('keeps what is typed while nobody asks, half a line too, and echoes it at the next question', async () => {
  const { stdin, stderr, keyboard, modes } = open()
  expect(modes, 'the terminal itself echoes nothing').toEqual([true])
  for (const key of ['o', 'n', 'e', '\r', 't', 'w']) stdin.write(key)
  await new Promise(setImmediate)
  expect(stderr.text()).not.toContain('one')
  expect(await keyboard.ask('> ')).toBe('one')
  const asked = keyboard.ask('> ')
  expect(stderr.text()).toMatch(/> .*tw$/)
  stdin.write('o\r')
  expect(await asked).toBe('two')
})

it.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('is left by %s, and the cursor is on a line of its own', async (_, key) => {
  const { stdin, stderr, keyboard } = open()
  const asked = keyboard.ask('> ')
  stdin.write(key)
  expect(await asked).toBeNull()
  expect(stderr.text()).toMatch(/\n$/)
})

it('is left when the terminal goes away', async () => {
  const { stdin, keyboard } = open()
  const asked = keyboard.ask('> ')
  stdin.end()
  expect(await asked).toBeNull()
  expect(await keyboard.ask('> ')).toBeNull()
})

it('tells of Ctrl-C while nobody asks, and keeps the rest', async () => {
  const { stdin, keyboard } = open()
  let told = 0
  const unwatch = keyboard.watch(() => told++)
  stdin.write('ab')
  stdin.write('\u0003')
  stdin.write('c')
  await new Promise(setImmediate)
  unwatch()
  expect(told).toBe(1)
  const asked = keyboard.ask('> ')
  stdin.write('\r')
  expect(await asked).toBe('abc')
})

it.each(['at a question', 'while nobody asks'])(
  'stops at Ctrl-Z %s, and goes on with what was typed',
  async (when) => {
    const { stdin, stderr, keyboard, modes, stops, goOn } = open()
    const early = when === 'at a question' ? keyboard.ask('> ') : null
    for (const key of ['a', '\u001a']) stdin.write(key)
    await new Promise(setImmediate)
    expect(stops).toEqual(['stopped'])
    expect(modes, 'the shell gets the terminal as it was').toEqual([true, false])
    expect(stderr.text().endsWith(markPastes.off)).toBe(true)
    goOn()
    expect(modes.at(-1)).toBe(true)
    const asked = early ?? keyboard.ask('> ')
    stdin.write('b\r')
    expect(await asked).toBe('ab')
  },
)

it('lends the keys to another question, without those from before it', async () => {
  const { stdin, keyboard } = open()
  stdin.write('\r')
  await new Promise(setImmediate)
  const { keys, release } = keyboard.borrow()
  const got: string[] = []
  keys.on('data', (bytes) => got.push(String(bytes)))
  stdin.write('y')
  await new Promise(setImmediate)
  release()
  expect(got).toEqual(['y'])
  expect(await keyboard.ask('> '), 'the Enter from before').toBe('')
})

it('lends no paste, which is kept for the next message, and says whether a line is half typed', async () => {
  const { stdin, keyboard } = open()
  expect(keyboard.borrow().isTyping).toBe(false)
  const { keys } = keyboard.borrow()
  const got: string[] = []
  keys.on('data', (bytes) => got.push(String(bytes)))
  stdin.write('\u001b[200~a\rb\u001b[201~')
  stdin.write('\u001b[B')
  await new Promise(setImmediate)
  expect(got).toEqual(['\u001b[B'])
  const lent = keyboard.borrow()
  expect(lent.isTyping).toBe(true)
  lent.release()
  const asked = keyboard.ask('> ')
  stdin.write('\r')
  expect(await asked).toBe('a\nb')
})

it('goes on by itself where nothing can be stopped', async () => {
  const { stdin, keyboard, modes } = open()
  const asked = keyboard.ask('> ')
  stdin.write('\u001a')
  await expect.poll(() => modes.at(-1)).toBe(false)
  await expect.poll(() => modes.at(-1)).toBe(true)
  stdin.write('a\r')
  expect(await asked).toBe('a')
})

it('gives the terminal back', () => {
  const { stdin, stderr, keyboard, modes } = open()
  keyboard.close()
  expect(modes).toEqual([true, false])
  expect(stderr.text().endsWith(markPastes.off)).toBe(true)
  expect(stdin.listenerCount('data')).toBe(0)
})
