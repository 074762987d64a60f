import * as t from 'typanion'
import { usageError } from './argv.ts'

/** Turns the text of an option into a whole number of at least one. */
export const isCount = t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(1)])

/** Refuses options that exclude each other; `given` maps each option to whether it was given. */
export function refuseTogether(given: Readonly<Record<string, boolean>>): void {
  const [first, second] = Object.keys(given).filter((name) => given[name])
  if (first !== undefined && second !== undefined)
    throw usageError(`'${first}' and '${second}' exclude each other`)
}
