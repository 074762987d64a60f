import type { Readable, Writable } from 'node:stream'
import { formatCall } from './record.ts'
import { stripControls } from './text.ts'

export interface ApprovalRequest {
  readonly name: string
  readonly arguments: unknown
  readonly reason: string
}

/**
 * Asks whether one tool call may go ahead. Only for terminals: without one, enquirer takes any input for keys, and at
 * the end of the input it never answers. Esc and Ctrl-C mean no.
 */
export async function askApproval(
  request: ApprovalRequest,
  { stdin, stderr }: { readonly stdin: Readable; readonly stderr: Writable },
): Promise<boolean> {
  const { default: enquirer } = await import('enquirer')
  const what = stripControls(formatCall(request.name, request.arguments))
  const select = new enquirer.Select({
    message: `${what} (${stripControls(request.reason)})`,
    choices: [
      { name: 'allow', message: 'allow once' },
      { name: 'deny', message: 'deny' },
    ],
    stdin,
    stdout: stderr,
  })
  try {
    return (await select.run()) === 'allow'
  } catch (error) {
    // Esc and Ctrl-C reject with an empty string, not with an error.
    if (error === '') return false
    throw error
  }
}
