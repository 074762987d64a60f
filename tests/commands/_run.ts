import { randomBytes } from 'node:crypto'
import { Readable, Writable } from 'node:stream'
import type { Surroundings } from '../../commands/context.ts'
import { run } from '../../commands/main.ts'

/** What a run in this process looked like from outside. */
export interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command line in this process, in a world made for it; `changes` replaces parts of that world. */
export async function runHere(
  argv: ReadonlyArray<string>,
  changes: Partial<Surroundings> = {},
): Promise<Outcome> {
  const stdout = collect()
  const stderr = collect()
  const exitCode = await run(argv, {
    env: { CASS_HOME: '/nonexistent/cass' },
    cwd: '/',
    home: '/nonexistent',
    openStdin: () => Readable.from([]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    terminals: { stdin: false, stdout: false, stderr: false },
    columns: 80,
    hasInput: false,
    now: () => new Date('2026-06-25T10:15:33.000Z'),
    randomBytes,
    pid: 1,
    programFolder: '/nonexistent/program',
    interrupts: { listen: () => () => {} },
    ...changes,
  })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

/** A stream that keeps what is written to it. */
export function collect(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  return { stream, text: () => chunks.join('') }
}
