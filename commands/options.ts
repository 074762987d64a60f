import * as t from 'typanion'
import { usageError } from './argv.ts'

/** Turns the text of an option into a whole number of at least one. */
export const isCount = t.makeValidator<unknown, number>({
  test(value, state): value is number {
    const count = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1) {
      state?.errors?.push(`${state.p ?? '.'}: it is a whole number from 1 on, in digits, not '${value}'`)
      return false
    }
    if (count !== value && state?.coercion !== undefined)
      state.coercions?.push([state.p ?? '.', state.coercion.bind(null, count)])
    return true
  },
})

/** Refuses options that exclude each other; `given` maps each option to whether it was given. */
export function refuseTogether(given: Readonly<Record<string, boolean>>): void {
  const [first, second] = Object.keys(given).filter((name) => given[name])
  if (first !== undefined && second !== undefined)
    throw usageError(`'${first}' and '${second}' exclude each other`)
}
