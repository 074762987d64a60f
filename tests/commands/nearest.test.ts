import { expect, it } from 'vitest'
import { findNearest } from '../../commands/nearest.ts'

const commands = ['branch', 'branches', 'chat', 'chats', 'check', 'checkpoints', 'log', 'run', 'switch']

it.each([
  ['brnach', 'branch'],
  ['branchs', 'branch'],
  ['Branches', 'branches'],
  ['runn', 'run'],
  ['chekc', 'check'],
  ['swtich', 'switch'],
  ['checkp', 'checkpoints'],
  ['bran', 'branch'],
  ['-x', null],
  ['lgo', 'log'],
  ['explain the parser', null],
  ['x', null],
  ['', null],
])('%s was meant to be %s', (word, expected) => {
  expect(findNearest(word, commands)).toBe(expected)
})
