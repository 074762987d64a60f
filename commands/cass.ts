#!/usr/bin/env node
import { join } from 'node:path'
import { requireCached } from './codeCache.ts'
import { type Run, readSurroundings } from './context.ts'
import { version } from './version.ts'

const listeners = new Set<() => void>()
/** What asks the program to stop: Ctrl-C, a service manager, a terminal that was closed. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
let isPipeClosed = false
let isHungUp = false

/** Why stdout cannot be written, but for a reader that has gone: a full disk under a redirect. */
let stdoutFailure: string | null = null

// `cass log | head`: the reader has gone, which is no failure. A turn that is under way is completed first.
process.stdout.on('error', (error) => {
  const code = 'code' in error ? String(error.code) : error.message
  if (code === 'EPIPE' || (isHungUp && code === 'EIO')) {
    isPipeClosed = true
    if (!interrupt()) process.exit(0)
    return
  }
  // The stream is destroyed by the first error; those of later writes say nothing new.
  if (isPipeClosed || stdoutFailure !== null) return
  stdoutFailure = code
  // The command may be over already.
  process.exitCode = 1
  process.stderr.write(
    `error: cannot write to stdout: ${code}\nhint: look at where the output goes; nothing else was harmed\n`,
  )
  interrupt()
})
// Nobody reads what is for people either: go on without.
process.stderr.on('error', () => {})

function interrupt(signal?: NodeJS.Signals): boolean {
  if (signal === 'SIGHUP') isHungUp = true
  for (const listener of listeners) listener()
  return listeners.size > 0
}

const interrupts = {
  listen(listener: () => void): () => void {
    // Only now, so that a signal ends every other command at once.
    if (listeners.size === 0) for (const signal of stopSignals) process.on(signal, interrupt)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) for (const signal of stopSignals) process.off(signal, interrupt)
    }
  },
}

const argv = process.argv.slice(2)
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`cass ${version}\n`)
} else {
  void start()
}

async function start(): Promise<void> {
  const { run } = loadProgram()
  const exitCode = await run(argv, readSurroundings(interrupts))
  process.exitCode = isPipeClosed ? 0 : stdoutFailure === null ? exitCode : 1
}

// Without `import`, which would start the whole loader of ES modules.
function loadProgram(): { readonly run: Run } {
  const file = join(import.meta.dirname, 'main.cjs')
  const exports: { run?: Run } = {}
  // Written here, in a file that lies beside what is imported and that Node itself loads.
  const { run } = requireCached(file, { exports, importModule: (path) => import(path) })
  if (run === undefined) throw new Error('Assertion failed: main.cjs exports no program')
  return { run }
}
