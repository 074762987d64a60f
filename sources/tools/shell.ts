import * as t from 'typanion'
import { isReadOnlyCommand } from '../workspace/shellClass.ts'
import { parseInput } from './input.ts'
import { cutAt, limits } from './limits.ts'
import { runGuarded, succeed, ToolFailure } from './outcome.ts'
import { OutputWindow } from './outputWindow.ts'
import { runShell, type ShellEnd } from './shellProcess.ts'
import type { Tool, ToolContext, ToolOutcome } from './tool.ts'

const isInput = t.isPartial({ command: t.isString(), timeout: t.isOptional(t.isNumber()) })

const defaultSeconds = 30

/** Runs a command of the shell. Whether it may run at all was decided before (`decideCall`). */
export const shell: Tool = {
  name: 'shell',
  description:
    'Run a command with sh (PowerShell on Windows) in the working directory. Output is streamed to the user; you get ' +
    'stdout, stderr and the exit code when it ends. Long output loses its middle, so filter it with grep/head/tail. ' +
    'There is no input: commands that ask will not get an answer. Default timeout 30 seconds; at the timeout, or when ' +
    'the user cancels, the command and everything it started are killed. Unavailable in read-only mode; in ' +
    'workspace-edit mode each call may trigger a separate approval prompt; allowed in full-access mode. Use read, ' +
    'grep, write and edit for files.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string' },
      timeout: { type: 'integer', minimum: 0, description: 'Seconds. Default: 30' },
    },
    required: ['command'],
    additionalProperties: false,
  },
  run: (input, context) =>
    runGuarded(context.signal, async () => {
      const { command, timeout: seconds = defaultSeconds } = parseInput(isInput, input)
      if (command.trim() === '') throw new ToolFailure('command must not be empty')
      if (!Number.isInteger(seconds) || seconds < 0) {
        throw new ToolFailure(`field \`timeout\`: expected whole seconds, 0 or more (got ${seconds})`)
      }
      // A mode may have changed since the call was decided; nothing runs in read-only mode.
      if (context.policy.mode === 'read-only') throw new ToolFailure('shell is unavailable in read-only mode')
      return await runHeld(command, seconds, context)
    }),
}

/** Commands that may change files run while the whole workspace is held. */
async function runHeld(command: string, seconds: number, context: ToolContext): Promise<ToolOutcome> {
  const dialect = process.platform === 'win32' ? 'windows' : 'sh'
  if (isReadOnlyCommand(command, dialect)) return await runCommand(command, seconds, context)
  const endHold = await context.holdWorkspace()
  try {
    context.signal.throwIfAborted()
    return await runCommand(command, seconds, context)
  } finally {
    await endHold()
  }
}

async function runCommand(command: string, seconds: number, context: ToolContext): Promise<ToolOutcome> {
  const sizes = { head: limits.shellHead, tail: limits.shellTail }
  const windows = { stdout: new OutputWindow(sizes), stderr: new OutputWindow(sizes) }
  const live = { stdout: limits.shellLive as number, stderr: limits.shellLive as number }
  const end = await runShell({
    command,
    cwd: context.cwd,
    environment: context.shellEnvironment,
    timeoutMilliseconds: seconds * 1000,
    signal: context.signal,
    onText: (stream, text) => {
      windows[stream].push(text)
      if (live[stream] <= 0) return
      const shown = cutAt(text, live[stream])
      live[stream] -= text.length
      context.onOutput(stream, shown)
      if (live[stream] <= 0) context.onOutput(stream, '\n… more output is not shown live\n')
    },
  })
  if (end.reason === 'abort') context.signal.throwIfAborted()
  const block = formatOutput(windows.stdout.toString(), windows.stderr.toString(), end)
  if (end.reason !== 'timeout') return succeed(block)
  // Bounded by the windows, and of more use whole than the short text that other failures get.
  return { ok: false, content: `command timed out after ${seconds}s\n${block}`, changes: [] }
}

function formatOutput(stdout: string, stderr: string, { code, killedBy, isHeld, reason }: ShellEnd): string {
  const section = (name: string, text: string) =>
    text === '' ? '' : `${name}:\n${text}${text.endsWith('\n') ? '' : '\n'}`
  const output = section('stdout', stdout) + section('stderr', stderr)
  const lines = [`exit code: ${code ?? -1}`]
  if (killedBy !== null && reason === 'exit') lines.push(`ended by ${killedBy}`)
  if (isHeld)
    lines.push('a process that the command left in the background still holds its output and goes on')
  return `${output === '' ? '(no output)\n' : output}${lines.join('\n')}`
}
