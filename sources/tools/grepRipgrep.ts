import { spawn } from 'node:child_process'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import {
  type GrepFile,
  type GrepLine,
  type GrepSearch,
  showLine,
  shownLineBytes,
  skippedNames,
} from './grepSearch.ts'
import { limits } from './limits.ts'
import { ToolFailure } from './outcome.ts'
import { tryDecodeUtf8 } from './text.ts'

/** The program at this path cannot be started here, so another engine has to do it. */
export class RipgrepMissing extends Error {}

/** Searches with the ripgrep program at `program`. Throws `RipgrepMissing` when it cannot be started. */
export async function* searchWithRipgrep(
  program: string,
  search: GrepSearch,
  signal: AbortSignal,
): AsyncGenerator<GrepFile> {
  const child = spawn(program, ripgrepArguments(search), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...search.environment, HOME: search.home },
    // A file called `rg` in the workspace must not be found on Windows, which looks in the working folder first.
    // The globs of whole paths below begin there.
    cwd: path.parse(search.roots[0] ?? search.home).root,
    windowsHide: true,
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const ended = new Promise<{ code: number | null; error: Error | null }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, error }))
    child.once('close', (code) => resolve({ code, error: null }))
  })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < limits.error) complaint += chunk.toString('utf8')
  })
  let found = 0
  try {
    const parser = new OutputParser(search.mostMatches)
    for await (const chunk of child.stdout) {
      signal.throwIfAborted()
      for (const file of parser.push(chunk)) {
        found += 1
        yield file
      }
    }
    for (const file of parser.finish()) {
      found += 1
      yield file
    }
    const { code, error } = await ended
    signal.throwIfAborted()
    if (error !== null) {
      const cannotStart = ['ENOENT', 'EACCES', 'ENOEXEC'].includes(errnoOf(error) ?? '')
      throw cannotStart ? new RipgrepMissing(program, { cause: error }) : error
    }
    if (code === 2 && isTooOld.test(complaint)) throw new RipgrepMissing(complaint.trim())
    // Files that cannot be read end with 2 as well, but without a complaint, since those are switched off.
    if (code === 2 && found === 0 && complaint.trim() !== '')
      throw new ToolFailure(`grep failed: ${complaint.trim()}`)
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
  }
}

// What a ripgrep of the system says that does not know the options below, or was built without look-around.
const isTooOld = /unrecogni[sz]ed (flag|option)|unexpected argument|wasn't expected|PCRE2 is not available/

function ripgrepArguments(search: GrepSearch): string[] {
  return [
    '--no-config',
    '--no-messages',
    '--color=never',
    '--no-heading',
    '--with-filename',
    '--null',
    '--line-number',
    '--column',
    '--no-context-separator',
    '--sort=path',
    // Only when it is read in order is a file known to be binary in every case.
    '--no-mmap',
    '--hidden',
    '--no-require-git',
    '--crlf',
    `--max-columns=${shownLineBytes}`,
    '--max-columns-preview',
    `--max-filesize=${limits.grepFileBytes}`,
    `--context=${search.contextLines}`,
    search.isCaseSensitive ? '--case-sensitive' : '--ignore-case',
    ...(search.isRegex ? ['--engine=auto'] : ['--fixed-strings']),
    ...skippedNames.map((name) => `--glob=!${name}`),
    `--iglob=!${globOf(search.closedFolder)}`,
    `--regexp=${search.query}`,
    '--',
    ...search.roots,
  ]
}

/** A glob for one absolute path; it begins at the root, where the program runs. */
function globOf(folder: string): string {
  const fromRoot = folder.slice(path.parse(folder).root.length).split(path.sep).join('/')
  return `/${fromRoot.replace(/[\\*?[\]{}! ]/g, '\\$&')}`
}

const binaryNote =
  /^(.*?): (?:WARNING: stopped searching binary file after match|binary file matches) \(found .*? byte around offset \d+\)\n/s
const longLineNote = / \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]$/

/** Reads `path NUL number : column : text LF`, where context lines are `path NUL number - text LF`. */
class OutputParser {
  private readonly mostMatches: number
  private pending: Buffer = Buffer.alloc(0)
  private path: Buffer | null = null
  private lines = new Map<number, GrepLine>()
  private matches = 0

  constructor(mostMatches: number) {
    this.mostMatches = mostMatches
  }

  *push(chunk: Buffer): Generator<GrepFile> {
    let bytes = this.pending.length > 0 ? Buffer.concat([this.pending, chunk]) : chunk
    for (;;) {
      const nul = bytes.indexOf(0)
      const end = nul === -1 ? -1 : bytes.indexOf(0x0a, nul)
      if (end === -1) break
      const path = this.withoutNotes(bytes.subarray(0, nul))
      if (this.path === null || !this.path.equals(path)) {
        yield* this.finishFile()
        this.path = Buffer.from(path)
      }
      this.addLine(bytes.subarray(nul + 1, end))
      bytes = bytes.subarray(end + 1)
    }
    this.pending = Buffer.from(bytes)
  }

  *finish(): Generator<GrepFile> {
    this.withoutNotes(this.pending)
    yield* this.finishFile()
  }

  /** A note about a binary file has no NUL and so stands in front of the next path. That file is dropped. */
  private withoutNotes(bytes: Buffer): Buffer {
    if (!bytes.includes(0x0a)) return bytes
    const note = binaryNote.exec(bytes.toString('latin1'))
    if (note === null) return bytes
    if (this.path?.toString('latin1') === note[1]) {
      this.path = null
      this.lines = new Map()
      this.matches = 0
    }
    return this.withoutNotes(bytes.subarray(note[0].length))
  }

  private *finishFile(): Generator<GrepFile> {
    if (this.path !== null && this.lines.size > 0) yield { path: this.path, lines: this.lines }
    this.path = null
    this.lines = new Map()
    this.matches = 0
  }

  private addLine(bytes: Buffer): void {
    if (this.matches > this.mostMatches) return
    const head = /^(\d+)(?::(\d+):|-)/.exec(bytes.subarray(0, 40).toString('latin1'))
    if (head === null) return
    const isMatch = head[2] !== undefined
    const body = bytes.subarray(head[0].length)
    const at = isMatch ? body.subarray(0, Number(head[2]) - 1).toString('utf8').length : 0
    if (isMatch) this.matches += 1
    const text = tryDecodeUtf8(body) ?? body.toString('latin1')
    const shown = body.length > shownLineBytes ? text.replace(longLineNote, '') : text
    this.lines.set(Number(head[1]), { text: showLine(shown, at), isMatch })
  }
}
