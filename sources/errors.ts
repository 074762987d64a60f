/** How an error ends a command; the command line maps each kind to one exit code (docs/plumbing.md). */
export type ErrorKind = 'failed' | 'usage' | 'refused' | 'busy' | 'interrupted'

export interface CassErrorOptions {
  /** Omitted: `failed`. */
  readonly kind?: ErrorKind
  /** The next step, starting with a verb. Omitted: there is none to give. */
  readonly hint?: string
  readonly cause?: unknown
  /** Facts for programs; never secrets. */
  readonly data?: Readonly<Record<string, unknown>>
}

/**
 * An error that a person can meet. `code` is stable and snake_case, the message is lower case, without a full
 * stop, and names the thing and the cause.
 */
export class CassError extends Error {
  readonly code: string
  readonly kind: ErrorKind
  readonly hint: string | null
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: string, message: string, { kind, hint, cause, data }: CassErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CassError'
    this.code = code
    this.kind = kind ?? 'failed'
    this.hint = hint ?? null
    this.data = data ?? {}
  }
}

/** Ends an exhaustive switch: the compiler refuses a case that is not handled. */
export function assertNever(value: never): never {
  throw new Error(`Assertion failed: unexpected value ${JSON.stringify(value)}`)
}

/** The errno code of a file-system error, or null for anything else. */
export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}
