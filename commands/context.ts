import { randomBytes } from 'node:crypto'
import { fstatSync } from 'node:fs'
import { homedir } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { isatty } from 'node:tty'
import type { BaseContext } from 'clipanion'
import type { GlobalOptions } from './argv.ts'
import type { Printer } from './terminal/printer.ts'

/** What the outside world is for one run of the program. Read once, here, and handed down. */
export interface Surroundings {
  readonly env: Record<string, string | undefined>
  /** Null: the folder is gone, or not to be reached. */
  readonly cwd: string | null
  readonly home: string
  readonly openStdin: () => Readable
  readonly stdout: Writable
  readonly stderr: Writable
  /** Which of the three streams are terminals. */
  readonly terminals: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  /** Width of the terminal; only meaningful when stdout is one. */
  readonly columns: number
  /** Stdin is a pipe or a file: its text belongs to the prompt. */
  readonly hasInput: boolean
  readonly now: () => Date
  readonly randomBytes: (length: number) => Buffer
  readonly pid: number
  /** Where the program itself lies, with its documentation and its sample project. */
  readonly programFolder: string
  readonly interrupts: Interrupts
}

/**
 * Ctrl-C, and a reader of stdout that went away, as something a command can listen to. While nobody listens, the
 * program simply ends.
 */
export interface Interrupts {
  /** The function it gives ends the listening. The listener must not throw. */
  listen(listener: () => void): () => void
}

/** What a command works with: the surroundings, the options common to all commands, and where to print. */
export interface CommandContext extends BaseContext, Omit<Surroundings, keyof BaseContext | 'cwd'> {
  readonly cwd: string
  readonly globals: GlobalOptions
  readonly print: Printer
  /** Runs another command line as this program would; the guided tour is made of these. */
  readonly run: Run
}

/** A program: runs one command line and gives its exit code. Never throws, never ends the process. */
export type Run = (argv: ReadonlyArray<string>, surroundings: Surroundings) => Promise<number>

/** Reads the process. */
export function readSurroundings(interrupts: Interrupts): Surroundings {
  const { stdout, stderr } = process
  return {
    env: process.env,
    cwd: currentFolder(),
    home: homedir(),
    openStdin: () => process.stdin,
    stdout,
    stderr,
    terminals: {
      // Asked when it matters: the module behind it takes a millisecond to load.
      get stdin() {
        return isatty(0)
      },
      stdout: stdout.isTTY === true,
      stderr: stderr.isTTY === true,
    },
    columns: stdout.columns ?? 80,
    hasInput: isPipeOrFile(0),
    now: () => new Date(),
    randomBytes,
    pid: process.pid,
    programFolder: import.meta.dirname,
    interrupts,
  }
}

function currentFolder(): string | null {
  try {
    return process.cwd()
  } catch {
    // It was deleted or unmounted below the shell. Only a command that needs it says so.
    return null
  }
}

// `/dev/null` and terminals are devices: nothing is read from them.
function isPipeOrFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor)
    return stats.isFIFO() || stats.isFile() || stats.isSocket()
  } catch {
    // A closed descriptor holds no text.
    return false
  }
}
