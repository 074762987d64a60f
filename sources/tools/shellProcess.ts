import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { callVariable, findStarted, signalAll, trySignal } from './processTree.ts'

export interface ShellRun {
  readonly command: string
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutMilliseconds: number
  readonly signal: AbortSignal
  /** Gets the output in pieces of whole characters; must not throw. */
  readonly onText: (stream: 'stdout' | 'stderr', text: string) => void
}

export interface ShellEnd {
  readonly reason: 'exit' | 'timeout' | 'abort'
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly killedBy: string | null
  /** A process that the command left behind still holds its output. */
  readonly isHeld: boolean
}

/** How long a command may take to end by itself once it was told to. */
const termMilliseconds = 500
/** How long output is waited for, without any coming, when the command has ended but its pipes have not. */
const quietMilliseconds = 250
const quietAtMost = 2000
/** Timers of Node.js count to this. */
const longestTimer = 2 ** 31 - 1

/**
 * Runs a command of the system's shell, without input, in a process group of its own, until it ends, time is up or the
 * signal is aborted; in the last two cases everything it started is killed. Rejects when it cannot be started.
 */
export async function runShell(run: ShellRun): Promise<ShellEnd> {
  const call = randomUUID()
  const [program, ...args] = shellArguments(run.command)
  const child = spawn(program, args, {
    cwd: run.cwd,
    env: { ...run.environment, [callVariable]: call },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const pipes = [
    new Pipe(child.stdout, (text) => run.onText('stdout', text)),
    new Pipe(child.stderr, (text) => run.onText('stderr', text)),
  ]
  const exit = new Promise<{ code: number | null; killedBy: string | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, killedBy) => resolve({ code, killedBy }))
  })
  const reason = await firstOf(exit, run)
  if (reason !== 'exit') await killStarted(child, call, exit)
  const { code, killedBy } = await exit
  const isHeld = await settle(pipes)
  // What is left behind may go on writing, but neither its output nor it keeps this process from ending.
  for (const pipe of pipes) pipe.leave()
  return { reason, code, killedBy, isHeld }
}

function shellArguments(command: string): [string, ...string[]] {
  if (process.platform !== 'win32') return ['/bin/sh', '-c', command]
  return ['powershell.exe', '-NoLogo', '-NoProfile', '-NonInteractive', '-Command', command]
}

async function firstOf(exit: Promise<unknown>, run: ShellRun): Promise<ShellEnd['reason']> {
  let timer: NodeJS.Timeout | undefined
  let onAbort = () => {}
  try {
    return await Promise.race([
      exit.then(() => 'exit' as const),
      new Promise<'timeout'>((resolve) => {
        timer = setTimeout(() => resolve('timeout'), Math.min(run.timeoutMilliseconds, longestTimer))
      }),
      new Promise<'abort'>((resolve) => {
        onAbort = () => resolve('abort')
        run.signal.addEventListener('abort', onAbort, { once: true })
        if (run.signal.aborted) onAbort()
      }),
    ])
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener('abort', onAbort)
  }
}

/** First asks, then forces. The tree is looked at before each step, since both change it. */
async function killStarted(child: ChildProcess, call: string, exit: Promise<unknown>): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  if (process.platform === 'win32') {
    await promisify(execFile)('taskkill', ['/pid', String(pid), '/T', '/F']).catch(() =>
      child.kill('SIGKILL'),
    )
    return
  }
  const asked = await findStarted(pid, call)
  trySignal(-pid, 'SIGTERM')
  await signalAll(asked, 'SIGTERM')
  await Promise.race([exit, delay(termMilliseconds)])
  // Those that were seen first are looked for again, in case their parents ended before them.
  for (let left = await findStarted(pid, call), round = 0; round < 3; round += 1) {
    trySignal(-pid, 'SIGKILL')
    await signalAll([...asked, ...left], 'SIGKILL')
    left = await findStarted(pid, call)
    if (left.length === 0) return
  }
}

async function delay(milliseconds: number): Promise<void> {
  // What is waited for keeps the program running; this must not when it has come first.
  await new Promise((resolve) => setTimeout(resolve, milliseconds).unref())
}

/** Waits for the pipes to end, but not for ever. True when one is still open. */
async function settle(pipes: ReadonlyArray<Pipe>): Promise<boolean> {
  const ended = Promise.all(pipes.map((pipe) => pipe.ended)).then(() => true)
  for (let waited = 0; waited < quietAtMost; waited += quietMilliseconds) {
    const before = pipes.reduce((sum, pipe) => sum + pipe.bytes, 0)
    if (await Promise.race([ended, delay(quietMilliseconds).then(() => false)])) return false
    if (pipes.reduce((sum, pipe) => sum + pipe.bytes, 0) === before) return true
  }
  return true
}

/** One output pipe: characters that are cut between two reads come out whole. */
class Pipe {
  bytes = 0
  readonly ended: Promise<void>
  private readonly stream: Readable
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  private onText: ((text: string) => void) | null

  constructor(stream: Readable, onText: (text: string) => void) {
    this.stream = stream
    this.onText = onText
    stream.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length
      this.give(this.decoder.decode(chunk, { stream: true }))
    })
    this.ended = new Promise((resolve) => {
      // An error ends a pipe as well; what came before it counts.
      stream.on('error', () => resolve())
      stream.once('close', () => resolve())
    })
  }

  /** Takes no more from it, but keeps it open, so that who writes to it is not ended by that. */
  leave(): void {
    this.give(this.decoder.decode())
    this.onText = null
    if ('unref' in this.stream && typeof this.stream.unref === 'function') this.stream.unref()
  }

  private give(text: string): void {
    if (text !== '') this.onText?.(text)
  }
}
