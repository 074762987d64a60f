import * as t from 'typanion'
import { checkValue, fieldOf, type Reading } from './faults.ts'
import type { Finding } from './finding.ts'
import { KeyReference } from './key.ts'
import { pickOrdered, stringifyOrdered } from './stringify.ts'

const isProvidersFile = t.isObject({ providers: t.isArray(t.isUnknown()) })

/** In the order in which an entry is written. `api_key: null` is an error, as the Rust program has it. */
const isProviderEntry = t.isObject({
  id: t.isString(),
  name: t.isOptional(t.isNullable(t.isString())),
  kind: t.isString(),
  base_url: t.isString(),
  api_key: t.isOptional(t.isString()),
  default_model: t.isOptional(t.isNullable(t.isString())),
  models: t.isOptional(t.isArray(t.isString())),
})

/** An entry of providers.json. Null: absent. */
export interface Provider {
  readonly id: string
  readonly name: string | null
  readonly kind: string
  readonly base_url: string
  readonly api_key: KeyReference
  readonly default_model: string | null
  readonly models: ReadonlyArray<string>
}

/** One entry as it stands in the file; `value` is null when it has faults, `id` when it has none that can be read. */
export interface ProviderEntry {
  readonly index: number
  readonly id: string | null
  readonly value: Provider | null
}

/** The only kind that works here. */
export const openAiCompatible = 'openai-compatible'

/** What to do about a kind that nobody knows. */
export const kindHint = `write '${openAiCompatible}'`

/** Kinds of the Rust program that are read and kept, but cannot be used. */
export const foreignKinds: ReadonlyArray<string> = ['chatgpt-codex', 'cassady-api']

export const defaultModelId = 'accounts/fireworks/models/qwen3p7-plus'

/** providers.json when it is missing. */
export const defaultProviders: ReadonlyArray<Provider> = [
  {
    id: 'fireworks',
    name: 'Fireworks',
    kind: openAiCompatible,
    base_url: 'https://api.fireworks.ai/inference/v1',
    api_key: new KeyReference('$FIREWORKS_API_KEY'),
    default_model: defaultModelId,
    models: [defaultModelId],
  },
]

/** Reads the parsed file, each entry on its own, so that one faulty entry hides no fault of another. */
export function parseProvidersFile(raw: unknown): Reading<ReadonlyArray<ProviderEntry>> {
  const faults: Finding[] = [
    ...checkValue(raw, isProvidersFile, { file: 'providers.json', unknownField: 'error' }),
  ]
  const list = fieldOf(raw, 'providers')
  const entries = Array.isArray(list)
    ? list.map((entry: unknown, index) => parseEntry(entry, index, faults))
    : []
  return { value: entries, faults }
}

/** The file's text; `api_key` and `models` are left out when empty. */
export function stringifyProvidersFile(providers: ReadonlyArray<Provider>): string {
  return stringifyOrdered({ providers: providers.map(storedEntry) }, ['providers'])
}

function parseEntry(raw: unknown, index: number, faults: Finding[]): ProviderEntry {
  const id = fieldOf(raw, 'id')
  const entry = { index, id: typeof id === 'string' ? id : null }
  const found = checkValue(raw, isProviderEntry, {
    file: 'providers.json',
    place: `providers[${index}]`,
    unknownField: 'error',
  })
  faults.push(...found)
  if (found.length > 0 || !isProviderEntry(raw)) return { ...entry, value: null }
  const value: Provider = {
    id: raw.id,
    name: raw.name ?? null,
    kind: raw.kind,
    base_url: raw.base_url,
    api_key: new KeyReference(raw.api_key ?? ''),
    default_model: raw.default_model ?? null,
    models: raw.models ?? [],
  }
  return { ...entry, value }
}

function storedEntry(provider: Provider): Record<string, unknown> {
  const stored = pickOrdered(provider, Object.keys(isProviderEntry.properties))
  const key = provider.api_key.reveal()
  return Object.fromEntries(
    Object.entries({ ...stored, api_key: key }).filter(
      ([name]) => !(name === 'api_key' && key === '') && !(name === 'models' && provider.models.length === 0),
    ),
  )
}
