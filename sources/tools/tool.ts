import type { EditSink } from '../edits/editSink.ts'
import type { AccessPolicy } from '../workspace/policy.ts'

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
