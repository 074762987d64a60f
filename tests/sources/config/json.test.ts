import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from '../../../sources/config/json.ts'

describe('readJson', () => {
  test.each([
    ['', 1, 1, 'the file is empty'],
    [' \n ', 1, 1, 'the file is empty'],
    ['{\n  "a": 1,\n}', 2, 9, 'a comma stands behind the last item'],
    ['[1,]', 1, 3, 'a comma stands behind the last item'],
    ['{"a": 1 "b": 2}', 1, 9, "expected ',' or '}' here"],
    ['{\n  // no\n}', 2, 3, 'JSON has no comments'],
    ['{"a": # no\n}', 1, 7, 'JSON has no comments'],
    ["{'a': 1}", 1, 2, 'a single quote starts no string'],
    ['{"a": \'b\'}', 1, 7, 'a single quote starts no string'],
    ['{a: 1}', 1, 2, 'a field name must stand in double quotes'],
    ['{"a" 1}', 1, 6, "expected ':' here"],
    ['{"a": 1', 1, 8, 'the file ends too early'],
    ['{"a": ', 1, 7, 'the file ends too early'],
    ['{"a": "b', 1, 7, 'a string is not closed'],
    ['{"a": "b\n"}', 1, 9, 'a string holds a line break or control character'],
    ['{"a": "C:\\path"}', 1, 10, 'a backslash starts no known escape'],
    ['{"a": True}', 1, 7, 'this is no JSON value'],
    ['{"a": 01}', 1, 7, 'this is no JSON value'],
    ['{"a": ,}', 1, 7, 'this is no JSON value'],
    ['{} {}', 1, 4, 'there is text behind the end'],
    ['{"a": 1, "a": 2}', 1, 10, "the field 'a' stands twice"],
    ['{"a": {"b": 1, "\\u0062": 2}}', 1, 16, "the field 'b' stands twice"],
    ['['.repeat(100_000), 1, 130, 'the values are nested too deeply'],
  ])('tells where %j is faulty', (text, line, column, problem) => {
    expect(readJson(text)).toMatchObject({ ok: false, line, column, problem })
  })

  test('reads whatever JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
      }),
    )
  })

  test('agrees with JSON.parse on what is JSON, for any damage to a text', () => {
    const text = '{"providers": [{"id": "a\\n", "n": -1.5e3, "x": [true, null]}]}'
    const damage = fc.tuple(
      fc.nat(text.length),
      fc.nat(3),
      fc.constantFrom('', ',', '"', '}', '\\', '0', ' '),
    )
    fc.assert(
      fc.property(damage, ([at, length, put]) => {
        const damaged = text.slice(0, at) + put + text.slice(at + length)
        let isJson = true
        try {
          JSON.parse(damaged)
        } catch {
          isJson = false
        }
        expect(readJson(damaged).ok).toBe(isJson)
      }),
      { numRuns: 2000 },
    )
  })
})
