import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { makeLineReader } from '../../commands/terminal/lineReader.ts'
import { collect } from './_run.ts'

function open() {
  const stdin = new PassThrough()
  const stderr = collect()
  return { stdin, stderr, reader: makeLineReader({ stdin, stderr: stderr.stream }) }
}

it('gives the lines of a paste one by one, the last one too', async () => {
  const { stdin, reader } = open()
  stdin.write('one\ntwo\n\nthree\n')
  const lines = [
    await reader.ask('> '),
    await reader.ask('> '),
    await reader.ask('> '),
    await reader.ask('> '),
  ]
  expect(lines).toEqual(['one', 'two', '', 'three'])
})

it('leaves no listener behind, or the next reader would get each key twice', async () => {
  const { stdin, reader } = open()
  for (const word of ['one', 'two', 'three']) {
    const asked = reader.ask('> ')
    stdin.write(`${word}\n`)
    expect(await asked).toBe(word)
    expect(stdin.listenerCount('keypress')).toBe(0)
    expect(stdin.listenerCount('end')).toBe(new PassThrough().listenerCount('end'))
  }
})

it.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('is left by %s', async (_, key) => {
  const { stdin, reader } = open()
  const asked = reader.ask('> ')
  stdin.write(key)
  expect(await asked).toBeNull()
})
