import type * as t from 'typanion'
import { ToolFailure } from './outcome.ts'

/**
 * Checks the arguments of a call. Unknown ones are ignored and a null stands for an absent one, as models write it.
 * Throws a `ToolFailure` that names each wrong field.
 */
export function parseInput<T>(validator: t.StrictValidator<unknown, T>, input: unknown): T {
  const errors: string[] = []
  const value = withoutNulls(input ?? {})
  if (validator(value, { errors })) return value
  throw new ToolFailure(`invalid arguments: ${errors.slice(0, 5).map(explain).join('; ')}`)
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null)
      .map(([key, each]) => [key, withoutNulls(each)]),
  )
}

// Typanion says `.files[0].path: Expected a string (got undefined)`.
function explain(error: string): string {
  const [, field, problem] = /^\.?([^:]*): (.*)$/s.exec(error) ?? []
  if (field === undefined || problem === undefined || field === '')
    return `the arguments are no object: ${error}`
  if (problem.endsWith('(got undefined)')) return `missing field \`${field}\``
  return `field \`${field}\`: ${problem.charAt(0).toLowerCase()}${problem.slice(1)}`
}
