import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { makeLineReader } from '../../commands/terminal/lineReader.ts'
import { collect } from './_run.ts'

test('lines that were pasted together are read one question after the other', async () => {
  const stdin = new PassThrough()
  const reader = makeLineReader({ stdin, stderr: collect().stream })
  const first = reader.ask('> ')
  stdin.write('one\ntwo\nthree\n')
  expect([await first, await reader.ask('> '), await reader.ask('> ')]).toEqual(['one', 'two', 'three'])
})
