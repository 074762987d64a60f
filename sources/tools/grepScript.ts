import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import vm from 'node:vm'
import { errnoOf } from '../errors.ts'
import { isCalled } from '../workspace/policy.ts'
import { type GrepFile, type GrepLine, type GrepSearch, showLine, skippedNames } from './grepSearch.ts'
import { IgnoreRules, readGlobalRules } from './ignoreRules.ts'
import { limits } from './limits.ts'
import { ToolFailure } from './outcome.ts'
import { decodeWide, readMark, tryDecodeUtf8 } from './text.ts'

/** Searches without any program, where ripgrep is not to be had. The same files, order and limits. */
export async function* searchWithScript(search: GrepSearch, signal: AbortSignal): AsyncGenerator<GrepFile> {
  const matching = {
    expression: makeExpression(search),
    guard: makeGuard(search),
    most: search.mostMatches + 1,
  }
  const rules = await IgnoreRules.load(await readGlobalRules(search.home, search.environment))
  for (const root of search.roots) {
    for await (const file of walk({ root, rules, closedFolder: search.closedFolder, signal })) {
      const found = await searchFile(file, matching, search.contextLines)
      if (found !== null) yield found
    }
  }
}

interface Walk {
  readonly root: string
  readonly rules: IgnoreRules
  readonly closedFolder: string
  readonly signal: AbortSignal
}

/** Files below a root in the order of their paths, component by component. Links are not followed. */
async function* walk({ root, rules, closedFolder, signal }: Walk): AsyncGenerator<Buffer> {
  if (!(await stat(root)).isDirectory()) {
    yield Buffer.from(root)
    return
  }
  yield* walkFolder(Buffer.from(root), await rules.ofSearched(root))

  async function* walkFolder(
    folder: Buffer,
    here: Awaited<ReturnType<IgnoreRules['ofSearched']>>,
  ): AsyncGenerator<Buffer> {
    signal.throwIfAborted()
    const entries = await readFolder(folder)
    for (const entry of entries.sort((a, b) => Buffer.compare(a.name, b.name))) {
      const isFolder = entry.isDirectory()
      if (!isFolder && !entry.isFile()) continue
      const full = Buffer.concat([folder, Buffer.from(path.sep), entry.name])
      const name = full.toString('utf8')
      if (skippedNames.includes(entry.name.toString('utf8')) || rules.isIgnored(name, isFolder, here))
        continue
      if (isFolder && isCalled(name, closedFolder)) continue
      if (isFolder) yield* walkFolder(full, await rules.inside(name, here))
      else yield full
    }
  }
}

async function readFolder(folder: Buffer) {
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  } catch (error) {
    // It has gone, or may not be read: the others are searched.
    if (errnoOf(error) !== null) return []
    throw error
  }
}

function makeExpression({ query, isRegex, isCaseSensitive }: GrepSearch): RegExp {
  const [, inline = '', rest = query] = isRegex ? (/^\(\?([ims]+)\)(.*)$/s.exec(query) ?? []) : []
  const source = isRegex ? rest : query.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&').replaceAll('\\-', '\\x2d')
  const flags = new Set([...inline, ...(isCaseSensitive ? '' : 'i')])
  try {
    return new RegExp(source, [...flags, 'u'].join(''))
  } catch (error) {
    throw new ToolFailure(`grep failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

interface Matching {
  readonly expression: RegExp
  readonly guard: Guard
  /** No more matching lines of a file are needed. */
  readonly most: number
}

async function searchFile(file: Buffer, matching: Matching, around: number): Promise<GrepFile | null> {
  const bytes = await readSearched(file)
  if (bytes === null) return null
  const lines = splitLines(bytes)
  if (lines === null) return null
  const matches = findMatches(lines, matching)
  if (matches.size === 0) return null
  const wanted = new Set<number>()
  for (const index of matches.keys()) {
    const last = Math.min(lines.length - 1, index + around)
    for (let at = Math.max(0, index - around); at <= last; at += 1) wanted.add(at)
  }
  const shown = new Map<number, GrepLine>()
  for (const index of [...wanted].sort((a, b) => a - b)) {
    const at = matches.get(index)
    const line = lines[index]?.shown ?? ''
    shown.set(index + 1, { text: showLine(line, at ?? 0), isMatch: at !== undefined })
  }
  return { path: file, lines: shown }
}

async function readSearched(file: Buffer): Promise<Buffer | null> {
  try {
    return (await stat(file)).size > limits.grepFileBytes ? null : await readFile(file)
  } catch (error) {
    // It has gone, or may not be read.
    if (errnoOf(error) !== null) return null
    throw error
  }
}

interface Line {
  /** What is matched: bytes that are not UTF-8 match nothing. */
  readonly matched: string
  readonly shown: string
}

/** Null for a binary file: one with a NUL anywhere. */
function splitLines(bytes: Buffer): ReadonlyArray<Line> | null {
  const { encoding, mark } = readMark(bytes)
  const body = bytes.subarray(mark.length)
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const text = decodeWide(body.subarray(0, body.length - (body.length % 2)), encoding)
    return text.includes('\0') ? null : linesOf(text).map((line) => ({ matched: line, shown: line }))
  }
  if (body.includes(0)) return null
  const text = tryDecodeUtf8(body)
  if (text !== null) return linesOf(text).map((line) => ({ matched: line, shown: line }))
  return linesOf(body.toString('latin1')).map((line) => {
    const raw = Buffer.from(line, 'latin1')
    const matched = raw.toString('utf8')
    return { matched, shown: tryDecodeUtf8(raw) ?? line }
  })
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

const mostMilliseconds = 2000

/** Runs a function that may search without end. A literal text cannot, and needs no watching. */
type Guard = (scan: () => void) => void

function makeGuard({ isRegex }: GrepSearch): Guard {
  if (!isRegex) return (scan) => scan()
  const sandbox = vm.createContext({ scan: () => {} })
  const script = new vm.Script('scan()')
  return (scan) => {
    sandbox.scan = scan
    try {
      // The only way to stop a regular expression that backtracks without end.
      script.runInContext(sandbox, { timeout: mostMilliseconds })
    } catch (error) {
      if (!isTimeout(error)) throw error
      throw new ToolFailure('the regular expression takes too long; use a simpler one')
    }
  }
}

// The error is one of the other context, whose `Error` is not ours.
function isTimeout(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false
  return error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}

/** Where each matching line matches first, by the index of the line. */
function findMatches(lines: ReadonlyArray<Line>, { expression, guard, most }: Matching): Map<number, number> {
  const found = new Map<number, number>()
  guard(() => {
    for (const [index, { matched }] of lines.entries()) {
      if (found.size >= most) return
      const at = matched.search(expression)
      if (at !== -1) found.set(index, at)
    }
  })
  return found
}
