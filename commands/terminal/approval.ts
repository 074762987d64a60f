import { PassThrough, type Readable, type Writable } from 'node:stream'
import { formatCall } from './record.ts'
import { stripControls } from './text.ts'

export interface ApprovalRequest {
  readonly name: string
  readonly arguments: unknown
  readonly reason: string
}

/**
 * Asks whether one tool call may go ahead. Only for terminals: without one, enquirer takes any input for keys, and at
 * the end of the input it never answers. Esc and Ctrl-C mean no; `onInterrupt` hears of Ctrl-C.
 */
export async function askApproval(
  request: ApprovalRequest,
  {
    stdin,
    stderr,
    onInterrupt,
  }: { readonly stdin: Readable; readonly stderr: Writable; readonly onInterrupt: () => void },
): Promise<boolean> {
  const { default: enquirer } = await import('enquirer')
  stderr.write(formatHidden(request))
  const { keys, release } = borrowKeys(stdin, onInterrupt)
  const select = new enquirer.Select({
    message: `${stripControls(formatCall(request.name, request.arguments))} (${stripControls(request.reason)})`,
    choices: [
      { name: 'allow', message: 'allow once' },
      { name: 'deny', message: 'deny' },
    ],
    stdin: keys,
    stdout: stderr,
  })
  try {
    return (await select.run()) === 'allow'
  } catch (error) {
    // Esc and Ctrl-C reject with an empty string, not with an error.
    if (error === '') return false
    throw error
  } finally {
    release()
  }
}

// The question has room for one line; nobody should allow lines that were not shown.
function formatHidden({ arguments: input }: ApprovalRequest): string {
  if (typeof input !== 'object' || input === null || !('command' in input)) return ''
  const lines = stripControls(String(input.command)).trim().split('\n')
  return lines.length === 1 ? '' : lines.map((line) => `    ${line}\n`).join('')
}

/**
 * The keys that are typed, on a stream of their own: enquirer leaves a listener on the one it gets, and the next reader of
 * it would get each key twice.
 */
function borrowKeys(stdin: Readable, onInterrupt: () => void): { readonly keys: Readable; release(): void } {
  const setRawMode = (isRaw: boolean) => {
    if ('setRawMode' in stdin && typeof stdin.setRawMode === 'function') stdin.setRawMode(isRaw)
  }
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode })
  const forward = (bytes: Buffer | string) => {
    keys.write(bytes)
    if (bytes.includes('\u0003')) onInterrupt()
  }
  stdin.on('data', forward)
  setRawMode(true)
  stdin.resume()
  return {
    keys,
    release() {
      stdin.off('data', forward)
      stdin.pause()
      setRawMode(false)
      keys.destroy()
    },
  }
}
