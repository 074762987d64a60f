import * as t from 'typanion'
import { reasoningEfforts } from './configFile.ts'
import { checkValue, fieldOf, type Reading } from './faults.ts'
import type { Finding } from './finding.ts'
import { defaultModelId } from './providersFile.ts'
import { pickOrdered, stringifyOrdered } from './stringify.ts'

const isModelsFile = t.isObject({ models: t.isArray(t.isUnknown()) })

const isCount = t.cascade(t.isNumber(), t.isInteger(), t.isAtLeast(0))

/** In the order in which it is written. */
const isReasoning = t.isObject({
  supported: t.isOptional(t.isBoolean()),
  required: t.isOptional(t.isBoolean()),
  default_effort: t.isOptional(t.isEnum(reasoningEfforts)),
  request_format: t.isOptional(t.isEnum(['reasoning_effort', 'reasoning_object'] as const)),
})

const isFastMode = t.isObject({ supported: t.isOptional(t.isBoolean()) })

/** In the order in which an entry is written. */
const isModelEntry = t.isObject({
  id: t.isString(),
  provider: t.isString(),
  display_name: t.isOptional(t.isNullable(t.isString())),
  context_length: t.isOptional(t.isNullable(isCount)),
  max_output_tokens: t.isOptional(t.isNullable(isCount)),
  supports_tools: t.isOptional(t.isBoolean()),
  supports_streaming: t.isOptional(t.isBoolean()),
  reasoning: t.isOptional(isReasoning),
  fast_mode: t.isOptional(isFastMode),
})

type Complete<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }

/** What a model can do about reasoning. */
export type Reasoning = Complete<t.InferType<typeof isReasoning>>

/** An entry of models.json with all defaults filled in. Null: absent. */
export interface Model extends Complete<Omit<t.InferType<typeof isModelEntry>, 'reasoning' | 'fast_mode'>> {
  readonly reasoning: Reasoning
  readonly fast_mode: Complete<t.InferType<typeof isFastMode>>
}

/** One entry as it stands in the file; `value` is null when it has faults. */
export interface ModelEntry {
  readonly index: number
  readonly id: string | null
  readonly provider: string | null
  readonly value: Model | null
}

const defaultReasoning: Reasoning = {
  supported: true,
  required: false,
  default_effort: 'medium',
  request_format: 'reasoning_effort',
}

/** models.json when it is missing. */
export const defaultModels: ReadonlyArray<Model> = [
  {
    id: defaultModelId,
    provider: 'fireworks',
    display_name: 'Qwen 3p7 Plus',
    context_length: 262_144,
    max_output_tokens: 32_768,
    supports_tools: true,
    supports_streaming: true,
    reasoning: defaultReasoning,
    fast_mode: { supported: false },
  },
]

/** Reads the parsed file, each entry on its own. */
export function parseModelsFile(raw: unknown): Reading<ReadonlyArray<ModelEntry>> {
  const faults: Finding[] = [...checkValue(raw, isModelsFile, { file: 'models.json', unknownField: 'error' })]
  const list = fieldOf(raw, 'models')
  const entries = Array.isArray(list)
    ? list.map((entry: unknown, index) => parseEntry(entry, index, faults))
    : []
  return { value: entries, faults }
}

/** The file's text; the flags, `reasoning` and `fast_mode` are always written in full. */
export function stringifyModelsFile(models: ReadonlyArray<Model>): string {
  return stringifyOrdered({ models: models.map(storedEntry) }, ['models'])
}

function parseEntry(raw: unknown, index: number, faults: Finding[]): ModelEntry {
  const entry = { index, id: textOf(raw, 'id'), provider: textOf(raw, 'provider') }
  const place = `models[${index}]`
  const options = { file: 'models.json', unknownField: 'error' } as const
  const found = [
    ...checkValue(raw, isModelEntry, { ...options, place }),
    // The validator takes an array for an object without fields.
    ...['reasoning', 'fast_mode']
      .filter((name) => Array.isArray(fieldOf(raw, name)))
      .flatMap((name) =>
        checkValue(fieldOf(raw, name), isFastMode, { ...options, place: `${place}.${name}` }),
      ),
  ]
  faults.push(...found)
  if (found.length > 0 || !isModelEntry(raw)) return { ...entry, value: null }
  const value: Model = {
    id: raw.id,
    provider: raw.provider,
    display_name: raw.display_name ?? null,
    context_length: raw.context_length ?? null,
    max_output_tokens: raw.max_output_tokens ?? null,
    supports_tools: raw.supports_tools ?? true,
    supports_streaming: raw.supports_streaming ?? true,
    reasoning: {
      supported: raw.reasoning?.supported ?? defaultReasoning.supported,
      required: raw.reasoning?.required ?? defaultReasoning.required,
      default_effort: raw.reasoning?.default_effort ?? defaultReasoning.default_effort,
      request_format: raw.reasoning?.request_format ?? defaultReasoning.request_format,
    },
    fast_mode: { supported: raw.fast_mode?.supported ?? false },
  }
  return { ...entry, value }
}

function storedEntry(model: Model): Record<string, unknown> {
  return {
    ...pickOrdered(model, Object.keys(isModelEntry.properties)),
    reasoning: pickOrdered(model.reasoning, Object.keys(isReasoning.properties)),
    fast_mode: pickOrdered(model.fast_mode, Object.keys(isFastMode.properties)),
  }
}

function textOf(raw: unknown, name: string): string | null {
  const value = fieldOf(raw, name)
  return typeof value === 'string' ? value : null
}
