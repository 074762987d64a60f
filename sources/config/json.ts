/** What a text that should be JSON holds, or where and why it is none. No part of the text is repeated: it may hold keys. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly code: 'malformed_json' | 'duplicate_field'
      readonly line: number
      readonly column: number
      readonly problem: string
      readonly hint: string
    }

/** Beyond this the scanner's own recursion could fail; the Rust program stops at the same depth. */
const maxDepth = 128

/**
 * Reads JSON, and says line and column of the first fault. V8's own messages quote the text around a fault, which in
 * providers.json can be a key. A field that stands twice is a fault too: the Rust program refuses it.
 */
export function readJson(text: string): JsonReading {
  try {
    scanDocument(text)
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault
    const before = text.slice(0, fault.offset).split('\n')
    const { code, problem, hint } = fault
    return { ok: false, code, line: before.length, column: (before.at(-1) ?? '').length + 1, problem, hint }
  }
  const value: unknown = JSON.parse(text)
  return { ok: true, value }
}

class JsonFault extends Error {
  readonly code: 'malformed_json' | 'duplicate_field'
  readonly offset: number
  readonly problem: string
  readonly hint: string

  constructor(offset: number, problem: string, hint: string, code: JsonFault['code'] = 'malformed_json') {
    super(problem)
    this.code = code
    this.offset = offset
    this.problem = problem
    this.hint = hint
  }
}

interface Cursor {
  readonly text: string
  at: number
}

function scanDocument(text: string): void {
  const cursor: Cursor = { text, at: 0 }
  skipBlanks(cursor)
  if (cursor.at === text.length) throw new JsonFault(0, 'the file is empty', 'write {} into it, or delete it')
  scanValue(cursor, 0)
  skipBlanks(cursor)
  if (cursor.at < text.length) throw new JsonFault(cursor.at, 'there is text behind the end', 'remove it')
}

function scanValue(cursor: Cursor, depth: number): void {
  if (depth > maxDepth) throw new JsonFault(cursor.at, 'the values are nested too deeply', 'flatten them')
  const first = cursor.text[cursor.at]
  if (first === '{') scanObject(cursor, depth)
  else if (first === '[') scanArray(cursor, depth)
  else if (first === '"') scanString(cursor)
  else scanWord(cursor)
}

function scanObject(cursor: Cursor, depth: number): void {
  const names = new Set<string>()
  cursor.at += 1
  skipBlanks(cursor)
  while (cursor.text[cursor.at] !== '}') {
    const start = cursor.at
    if (cursor.text[start] !== '"') {
      throw unexpected(cursor, 'a field name must stand in double quotes', 'put it in double quotes')
    }
    const name = scanString(cursor)
    if (names.has(name)) {
      throw new JsonFault(start, `the field '${name}' stands twice`, 'keep one of the two', 'duplicate_field')
    }
    names.add(name)
    skipBlanks(cursor)
    if (cursor.text[cursor.at] !== ':')
      throw unexpected(cursor, "expected ':' here", "put ':' behind the field name")
    cursor.at += 1
    skipBlanks(cursor)
    scanValue(cursor, depth + 1)
    scanSeparator(cursor, '}')
  }
  cursor.at += 1
}

function scanArray(cursor: Cursor, depth: number): void {
  cursor.at += 1
  skipBlanks(cursor)
  while (cursor.text[cursor.at] !== ']') {
    scanValue(cursor, depth + 1)
    scanSeparator(cursor, ']')
  }
  cursor.at += 1
}

/** Takes the comma between two items, or stops before the closing bracket. */
function scanSeparator(cursor: Cursor, closing: '}' | ']'): void {
  skipBlanks(cursor)
  const next = cursor.text[cursor.at]
  if (next === closing) return
  if (next !== ',')
    throw unexpected(cursor, `expected ',' or '${closing}' here`, 'put a comma between two items')
  const comma = cursor.at
  cursor.at += 1
  skipBlanks(cursor)
  if (cursor.text[cursor.at] === closing) {
    throw new JsonFault(comma, 'a comma stands behind the last item', 'remove the comma')
  }
}

function scanString(cursor: Cursor): string {
  const start = cursor.at
  cursor.at += 1
  for (;;) {
    const char = cursor.text[cursor.at]
    if (char === undefined)
      throw new JsonFault(start, 'a string is not closed', 'close it with a double quote')
    if (char < ' ') {
      throw new JsonFault(
        cursor.at,
        'a string holds a line break or control character',
        'close the string, or escape it',
      )
    }
    if (char === '"') break
    if (
      char === '\\' &&
      !/^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(cursor.text.slice(cursor.at, cursor.at + 6))
    ) {
      throw new JsonFault(cursor.at, 'a backslash starts no known escape', 'write the backslash twice')
    }
    cursor.at += char === '\\' ? 2 : 1
  }
  cursor.at += 1
  return String(JSON.parse(cursor.text.slice(start, cursor.at)))
}

function scanWord(cursor: Cursor): void {
  const word = /[-+.\w]*/y
  word.lastIndex = cursor.at
  const text = word.exec(cursor.text)?.[0] ?? ''
  if (!/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/.test(text)) {
    throw unexpected(
      cursor,
      'this is no JSON value',
      'write a string in double quotes, a number, true, false or null',
    )
  }
  cursor.at += text.length
}

/** The fault for what stands at the cursor; what people write most often by mistake is named. */
function unexpected(cursor: Cursor, problem: string, hint: string): JsonFault {
  const rest = cursor.text.slice(cursor.at, cursor.at + 2)
  if (rest === '') {
    return new JsonFault(cursor.at, 'the file ends too early', 'close the open strings, brackets and braces')
  }
  if (rest === '//' || rest === '/*' || rest.startsWith('#')) {
    return new JsonFault(cursor.at, 'JSON has no comments', 'remove the comment')
  }
  if (rest.startsWith("'"))
    return new JsonFault(cursor.at, 'a single quote starts no string', 'use double quotes')
  return new JsonFault(cursor.at, problem, hint)
}

function skipBlanks(cursor: Cursor): void {
  while (/[ \t\r\n]/.test(cursor.text[cursor.at] ?? '')) cursor.at += 1
}
