import * as t from 'typanion'
import { checkValue, fieldOf, type Reading } from './faults.ts'
import { stringifyOrdered } from './stringify.ts'

export const reasoningEfforts = ['off', 'low', 'medium', 'high'] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

export const accessModes = ['read-only', 'workspace-edit', 'full-access'] as const
export type AccessMode = (typeof accessModes)[number]

const isCount = t.cascade(t.isNumber(), t.isInteger(), t.isAtLeast(0))

function optional<T extends t.AnyStrictValidator>(spec: T) {
  return t.isOptional(t.isNullable(spec))
}

/** In the order in which the file is written. */
const isConfigFile = t.isObject({
  default_provider: optional(t.isString()),
  default_model: optional(t.isString()),
  default_reasoning_effort: optional(t.isEnum(reasoningEfforts)),
  default_fast_mode: optional(t.isBoolean()),
  provider: optional(t.isString()),
  model: optional(t.isString()),
  base_url: optional(t.isString()),
  api_key_env: optional(t.isString()),
  default_access_mode: optional(t.isEnum(accessModes)),
  context_message_limit: optional(isCount),
  model_tool_result_limit: optional(isCount),
  ui_tool_result_limit: optional(isCount),
  show_reasoning: optional(t.isBoolean()),
  confirm_destructive_operations: optional(t.isBoolean()),
})

type RawConfigFile = t.InferType<typeof isConfigFile>

/** config.json, shared with the Rust program: exactly its fields. Null: the field is absent. */
export type ConfigFile = { readonly [K in keyof RawConfigFile]-?: Exclude<RawConfigFile[K], undefined> }

const fieldNames: ReadonlyArray<string> = Object.keys(isConfigFile.properties)

/** config.json when it is missing. */
export const emptyConfigFile: ConfigFile = {
  default_provider: null,
  default_model: null,
  default_reasoning_effort: null,
  default_fast_mode: null,
  provider: null,
  model: null,
  base_url: null,
  api_key_env: null,
  default_access_mode: null,
  context_message_limit: null,
  model_tool_result_limit: null,
  ui_tool_result_limit: null,
  show_reasoning: null,
  confirm_destructive_operations: null,
}

/** Reads the parsed file. Faulty fields count as absent in `value`, so that the rest can still be judged. */
export function parseConfigFile(raw: unknown): Reading<ConfigFile> {
  const faults = checkValue(raw, isConfigFile, { file: 'config.json', unknownField: 'error' })
  const sound = Object.entries(isConfigFile.properties)
    .filter(([name, check]) => check(fieldOf(raw, name)))
    .map(([name]) => [name, fieldOf(raw, name) ?? null])
  return { value: { ...emptyConfigFile, ...(Object.fromEntries(sound) as Partial<ConfigFile>) }, faults }
}

/** The file's text: known fields only, in the shared order, absent ones left out. */
export function stringifyConfigFile(config: ConfigFile): string {
  return stringifyOrdered(config, fieldNames)
}
