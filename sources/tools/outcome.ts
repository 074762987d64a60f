import { CassError, errnoOf } from '../errors.ts'
import { bounded, limits } from './limits.ts'
import type { ToolOutcome } from './tool.ts'

/** A result of a call that did its work. */
export function succeed(content: string, changes: ToolOutcome['changes'] = []): ToolOutcome {
  return { ok: true, content, changes }
}

/** A result of a call that could not do its work; the text is for the model and is bounded. */
export function fail(content: string): ToolOutcome {
  return { ok: false, content: bounded(content, limits.error), changes: [] }
}

/** The model did something wrong; the message tells it what. Becomes an outcome, never leaves a tool. */
export class ToolFailure extends Error {}

/**
 * Runs the body of a tool: what the model, a file or the policy did wrong becomes a failed outcome with its cause.
 * An abort and our own bugs go on as what they are.
 */
export async function runGuarded(
  signal: AbortSignal,
  body: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  signal.throwIfAborted()
  try {
    return await body()
  } catch (error) {
    signal.throwIfAborted()
    if (isExpected(error)) return fail(describeError(error))
    throw error
  }
}

/** Whether an error is about the call or the world, not a bug of ours. */
export function isExpected(error: unknown): boolean {
  return error instanceof ToolFailure || error instanceof CassError || errnoOf(error) !== null
}

/** An error with its whole chain of causes and its hint, as one text. */
export function describeError(error: unknown): string {
  const lines: string[] = []
  const seen = new Set<unknown>()
  for (let current = error; current instanceof Error && !seen.has(current); current = current.cause) {
    seen.add(current)
    if (!lines.some((line) => line.includes(current.message))) lines.push(current.message)
  }
  const [first = String(error), ...causes] = lines
  const text = [first, ...causes.map((cause) => `cause: ${cause}`)]
  if (error instanceof CassError && error.hint !== null) text.push(`hint: ${error.hint}`)
  return text.join('\n')
}
