import { isJsonObject, isTooDeep } from '../conversation/json.ts'

/** The arguments of a tool call: an object, or why they are none. */
export type CallInput =
  | { readonly type: 'object'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly type: 'broken'; readonly cause: string }

/** Reads the JSON text of a call's arguments. No text at all stands for no arguments. */
export function parseArguments(text: string): CallInput {
  if (text.trim() === '') return { type: 'object', value: {} }
  try {
    const value: unknown = JSON.parse(text)
    if (isTooDeep(value)) return { type: 'broken', cause: 'they are nested too deeply' }
    if (isJsonObject(value)) return { type: 'object', value }
    return { type: 'broken', cause: `they are ${Array.isArray(value) ? 'an array' : `a ${kindOf(value)}`}` }
  } catch (error) {
    // The parser says where the text breaks, which is what a model needs to mend it.
    return { type: 'broken', cause: error instanceof Error ? error.message : 'not JSON' }
  }
}

/** The arguments as events show them. */
export function shownArguments(text: string, input: CallInput): unknown {
  return input.type === 'object' ? input.value : { _raw: text }
}

function kindOf(value: unknown): string {
  return value === null ? 'null value' : typeof value
}
