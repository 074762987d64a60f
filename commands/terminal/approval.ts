import type { Writable } from 'node:stream'
import type { Keyboard } from './keyboard.ts'
import { formatCall } from './record.ts'
import { escapeHidden, measureWidth, shortenLines, wrapLine } from './text.ts'

export interface ApprovalRequest {
  readonly name: string
  readonly arguments: unknown
  readonly reason: string
}

// The first and the second choice of every question.
const allow = 'allow once'
const deny = 'deny'
const showAll = 'show all'
/** Rows of a command that are shown at first. */
const shownRows = 12
const indent = '    '

/**
 * Asks whether one tool call may go ahead. Only for terminals: without one, enquirer takes any input for keys, and at
 * the end of the input it never answers. Esc and Ctrl-C mean no, `y` and `n` what they say.
 */
export async function askApproval(
  request: ApprovalRequest,
  {
    keyboard,
    stderr,
    columns,
  }: {
    readonly keyboard: Pick<Keyboard, 'borrow'>
    readonly stderr: Writable
    readonly columns: number
  },
): Promise<boolean> {
  const { subject, rows } = describe(request, columns)
  const question = `${subject} (${escapeHidden(reasonOf(request))})`
  const shown = shortenLines(rows, shownRows)
  write(stderr, shown)
  if (shown === rows) return (await ask(question, { choices: [allow, deny], keyboard, stderr })) === allow
  const answer = await ask(question, { choices: [allow, deny, showAll], keyboard, stderr })
  if (answer !== showAll) return answer === allow
  write(stderr, rows)
  return (await ask(question, { choices: [allow, deny], keyboard, stderr })) === allow
}

function commandOf(input: unknown): string | null {
  const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : null
  return typeof command === 'string' ? command : null
}

// The policy's reason ends with the command, which is shown already.
function reasonOf({ arguments: input, reason }: ApprovalRequest): string {
  const command = commandOf(input)
  if (command === null || command === '' || !reason.endsWith(command)) return reason
  return reason.slice(0, reason.length - command.length).replace(/[:\s]+$/, '')
}

// The question has room for one line, so a longer command stands above it. Nobody should allow what was not shown.
function describe(
  { name, arguments: input }: ApprovalRequest,
  columns: number,
): { readonly subject: string; readonly rows: ReadonlyArray<string> } {
  const command = commandOf(input)
  if (command === null) return { subject: escapeHidden(formatCall(name, input)), rows: [] }
  const text = escapeHidden(command.replace(/^\n+|\s+$/g, ''))
  const subject = `${escapeHidden(name)} ${text}`
  if (!text.includes('\n') && measureWidth(subject) < columns * 0.6) return { subject, rows: [] }
  const width = Math.max(20, columns - indent.length - 1)
  return {
    subject: `${escapeHidden(name)}: run this`,
    rows: text.split('\n').flatMap((line) => wrapLine(line, width)),
  }
}

function write(stderr: Writable, rows: ReadonlyArray<string>): void {
  stderr.write(rows.map((row) => `${indent}${row}\n`).join(''))
}

async function ask(
  message: string,
  {
    choices,
    keyboard,
    stderr,
  }: {
    readonly choices: ReadonlyArray<string>
    readonly keyboard: Pick<Keyboard, 'borrow'>
    readonly stderr: Writable
  },
): Promise<string | null> {
  const { default: enquirer } = await import('enquirer')
  const { keys, isTyping, release } = keyboard.borrow()
  const select = new (withLetters(enquirer.Select))({
    message,
    choices: choices.map((choice) => ({ name: choice, message: choice })),
    // An Enter that was meant for another line must not allow anything.
    initial: isTyping ? choices.indexOf(deny) : 0,
    // Some terminals say that they have no rows at all.
    rows: choices.length + 1,
    stdin: keys,
    stdout: stderr,
  })
  try {
    return await select.run()
  } catch (error) {
    // Esc and Ctrl-C reject with an empty string, not with an error.
    if (error === '') return null
    throw error
  } finally {
    release()
  }
}

type Select = typeof import('enquirer').default.Select

/**
 * `y` allows and `n` denies at once. Any other letter is no answer to the question: somebody goes on writing, and the Enter at
 * the end of it must not allow anything.
 */
function withLetters(Base: Select): Select {
  return class extends Base {
    override dispatch(input: string | undefined): unknown {
      const letter = input?.toLowerCase()
      this.index = letter === 'y' ? 0 : 1
      return letter === 'y' || letter === 'n' ? this.submit() : this.render()
    }
  }
}
