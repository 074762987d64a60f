import type { AccessPolicy } from '../workspace/policy.ts'

/** The state of one file: what restore and conflict checks compare. `sha256` and `size` are null when absent. */
export interface ObservedFile {
  readonly exists: boolean
  /** Raw bytes; null when the file does not exist. */
  readonly bytes: Buffer | null
  readonly sha256: string | null
  /** Permission bits, for example 0o644; null when absent. */
  readonly mode: number | null
}

/**
 * Where `write` and `edit` publish. Made for one tool call, so that each journal line knows its call and the
 * message that will hold its result.
 */
export interface EditSink {
  /** Looks at a regular file (real path). Throws `not_a_file`, or `file_too_large` when its bytes cannot be kept. */
  observe(realPath: string): Promise<ObservedFile>
  /**
   * Writes the journal line, then publishes `bytes` at `realPath` (missing folders are created), keeping the mode of
   * an existing file. Throws `file_changed` when the file is not as `observed`; then nothing of the user's is lost.
   */
  publish(edit: { readonly realPath: string; readonly observed: ObservedFile; readonly bytes: Buffer }): Promise<void>
}

export interface ToolContext {
  /** The folder that relative paths and shell commands start in; canonical. */
  readonly cwd: string
  readonly home: string
  readonly policy: AccessPolicy
  readonly edits: EditSink
  /** The environment of shell commands, without provider keys. */
  readonly shellEnvironment: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Live output of a shell command; must not throw. */
  readonly onOutput: (stream: 'stdout' | 'stderr', content: string) => void
  /**
   * Called around a shell command that may change files: holds the whole workspace and looks at tracked paths first.
   * The function it gives ends the hold; it is called once, also on failure.
   */
  readonly holdWorkspace: () => Promise<() => Promise<void>>
}

/** `content` goes to the model and the log; `changes` to people. */
export interface ToolOutcome {
  readonly ok: boolean
  readonly content: string
  readonly changes: ReadonlyArray<{ readonly path: string; readonly added: number; readonly removed: number }>
}

/** One tool. `run` gets the raw parsed arguments and validates them itself; what goes wrong is an outcome with `ok: false`. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
  run(input: unknown, context: ToolContext): Promise<ToolOutcome>
}
