import { describe, expect, test } from 'vitest'
import { parseArguments, shownArguments } from '../../../sources/agent/arguments.ts'

const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`

describe('the arguments of a call', () => {
  test.for([
    ['', { type: 'object', value: {} }],
    ['{"path":"a"}', { type: 'object', value: { path: 'a' } }],
    ['[1]', { type: 'broken', cause: 'they are an array' }],
    ['null', { type: 'broken', cause: 'they are a null value' }],
  ] as const)('%j are read', ([text, input]) => {
    expect(parseArguments(text)).toEqual(input)
  })

  test('that are nested deeper than can be stored are broken, and shown as they came', () => {
    expect(parseArguments(nested(90))).toMatchObject({ type: 'object' })
    for (const depth of [200, 200_000]) {
      const input = parseArguments(nested(depth))
      expect(input).toEqual({ type: 'broken', cause: 'they are nested too deeply' })
      expect(() => JSON.stringify(shownArguments(nested(depth), input))).not.toThrow()
    }
  })
})
