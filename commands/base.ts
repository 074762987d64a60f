import { Command } from 'clipanion'
import { CassError, type ErrorKind, errnoOf } from '../sources/errors.ts'
import type { CommandContext } from './context.ts'

/** What all commands share: how an error ends them. */
export abstract class BaseCommand extends Command<CommandContext> {
  /** Whether the command prints a list, so that `-z` means something. */
  static readonly printsList: boolean = false
  /** False for what is only for people's eyes: `--json` is refused there. */
  static readonly hasJson: boolean = true
  /** What the usage line says for words that clipanion would show as `...`. */
  static readonly words: string = '...'

  // Not `catch`: it could not set an exit code.
  override async validateAndExecute(): Promise<number> {
    try {
      return await super.validateAndExecute()
    } catch (error) {
      return this.report(error)
    }
  }

  /** Says which conversations a list had to leave out. */
  protected warnOfUnreadable(
    unreadable: ReadonlyArray<{ readonly conversation: string; readonly message: string }>,
  ): void {
    for (const { conversation, message } of unreadable) {
      this.context.print.warn(`conversation '${conversation}' is left out: ${message}`)
    }
  }

  /** Says that an empty list is one of this folder only. */
  protected noteElsewhere(count: number): void {
    if (count === 0) return
    const chats = count === 1 ? '1 chat' : `${count} chats`
    this.context.print.note(`other folders of this workspace have ${chats}: \`cass chats --all\``)
  }

  /** Prints an error and gives its exit code. */
  protected report(error: unknown): number {
    return report(error, this.context)
  }
}

/** The exit code of each kind of error (docs/plumbing.md). */
const exitCodes: Readonly<Record<ErrorKind, number>> = {
  failed: 1,
  usage: 2,
  refused: 3,
  busy: 4,
  interrupted: 130,
}

/** The one place that turns an error into text or JSON and an exit code. */
export function report(
  error: unknown,
  { globals, print, env }: Pick<CommandContext, 'globals' | 'print' | 'env'>,
): number {
  const { code, kind, message, hint } = describeError(error)
  if (globals.json) print.json({ error: { code, message, hint } })
  else print.error(message, hint)
  if (env.CASS_DEBUG === '1') print.trace(formatStack(error))
  return exitCodes[kind]
}

/** The next step after an error of the file system. */
const ioHints: Readonly<Record<string, string>> = {
  EACCES: 'check the permissions of that path',
  EDQUOT: 'make room within your disk quota, then run it again',
  EISDIR: 'move the folder away that stands where a file belongs',
  ENOTFILE: 'move away what stands where a file belongs',
  EEXIST: 'move what is there away, or point CASS_HOME elsewhere',
  ENOENT: 'look at that path: a folder, or the target of a link, is missing',
  ENOSPC: 'make room on the disk, then run it again',
  ENOTDIR: 'move the file away that stands where a folder belongs',
  EPERM: 'check the owner and the permissions of that path',
  EROFS: 'make the file system writable, or point CASS_HOME elsewhere',
}

interface ErrorDescription {
  readonly code: string
  readonly kind: ErrorKind
  readonly message: string
  readonly hint: string | null
}

function describeError(error: unknown): ErrorDescription {
  if (error instanceof CassError) return error
  const message = error instanceof Error ? error.message : String(error)
  // A system error names its path itself; anything else is a bug of ours.
  const errno = errnoOf(error)
  if (errno !== null) {
    const hint = Object.hasOwn(ioHints, errno) ? (ioHints[errno] ?? null) : null
    return { code: 'io_error', kind: 'failed', message: describeIoError(message), hint }
  }
  const hint = 'set CASS_DEBUG=1 to see where it happened, and report it'
  return { code: 'internal_error', kind: 'failed', message: `unexpected: ${message}`, hint }
}

// Node says `ENOENT: no such file or directory, open 'x'`.
function describeIoError(message: string): string {
  return message.replace(/^([A-Z][A-Z0-9_]*): ([\s\S]*)$/, '$2 ($1)')
}

function formatStack(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by: ${formatStack(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}
