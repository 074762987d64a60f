import { baseUrlProblem, isLoopback } from './baseUrl.ts'
import type { ConfigFile } from './configFile.ts'
import type { InspectedConfig } from './files.ts'
import type { Finding, Severity } from './finding.ts'
import { isVariableName } from './key.ts'
import type { ModelEntry } from './modelsFile.ts'
import {
  foreignKinds,
  kindHint,
  openAiCompatible,
  type Provider,
  type ProviderEntry,
} from './providersFile.ts'

/**
 * Everything that is wrong with the files beyond their shape, in one go. Entries and files that could not be read are
 * left out; nothing is said about what they might have held.
 */
export function validateConfig({ config, providers, models }: InspectedConfig): ReadonlyArray<Finding> {
  return [
    ...providers.value.flatMap(({ index, value }) => (value === null ? [] : providerFaults(value, index))),
    ...duplicateProviders(providers.value),
    ...(models.state === 'broken'
      ? []
      : providers.value.flatMap((entry) => unlistedModels(entry, models.value))),
    ...models.value.flatMap(modelFaults),
    ...(providers.state === 'broken' ? [] : unknownProviders(models.value, providers.value)),
    ...duplicateModels(models.value),
    ...configFaults(config.value, providers.state === 'broken' ? null : providers.value),
  ]
}

function providerFaults(provider: Provider, index: number): ReadonlyArray<Finding> {
  const { id, kind, base_url, api_key, default_model, models } = provider
  const at = (field: string) => `providers.json: providers[${index}].${field}`
  const isOurs = kind === openAiCompatible
  const found: Finding[] = []
  if (isBlank(id)) found.push(fault('provider_id_empty', at('id'), 'is empty', 'give the provider an id'))
  if (isBlank(kind))
    found.push(fault('provider_kind_empty', at('kind'), 'is empty', `write '${openAiCompatible}'`))
  else if (!isOurs && !foreignKinds.includes(kind)) {
    found.push(fault('provider_kind_unsupported', at('kind'), `'${kind}' is not supported`, kindHint))
  }
  const problem =
    isOurs || isBlank(base_url) ? baseUrlProblem(base_url) : URL.canParse(base_url) ? null : 'is not a URL'
  if (problem !== null) {
    const code = isBlank(base_url) ? 'base_url_empty' : 'base_url_invalid'
    found.push(fault(code, at('base_url'), problem, 'write a URL like https://api.example.com/v1'))
  }
  if (isOurs && api_key.form === 'invalid') {
    found.push(fault('api_key_invalid', at('api_key'), "'$' names no variable", "write '$NAME'"))
  }
  // Whether the server is a local one, which wants no key, cannot be told from a URL that is none.
  if (isOurs && problem === null && api_key.form === 'none' && !isLoopback(base_url)) {
    found.push(
      fault(
        'api_key_invalid',
        at('api_key'),
        'is empty',
        "write '$NAME' with the variable that holds the key",
      ),
    )
  }
  if (kind === 'chatgpt-codex' && api_key.form !== 'none') {
    found.push(warn('codex_key_ignored', at('api_key'), 'is not used by this kind of provider', 'remove it'))
  }
  if (default_model !== null && isBlank(default_model)) {
    found.push(
      fault('provider_default_model_blank', at('default_model'), 'is blank', 'name a model, or remove it'),
    )
  }
  models.forEach((model, place) => {
    if (isBlank(model)) {
      found.push(
        fault('provider_model_blank', at(`models[${place}]`), 'is blank', 'name a model, or remove it'),
      )
    }
  })
  return found
}

function duplicateProviders(entries: ReadonlyArray<ProviderEntry>): ReadonlyArray<Finding> {
  return entries
    .filter(({ id, index }) => id !== null && entries.some((other) => other.id === id && other.index < index))
    .map(({ id, index }) =>
      fault(
        'duplicate_provider',
        `providers.json: providers[${index}].id`,
        `duplicate provider id '${id}'`,
        'rename or remove one',
      ),
    )
}

function unlistedModels(
  { value, index }: ProviderEntry,
  models: ReadonlyArray<ModelEntry>,
): ReadonlyArray<Finding> {
  if (value === null) return []
  const places = [
    ['default_model', value.default_model ?? ''] as const,
    ...value.models.map((model, place) => [`models[${place}]`, model] as const),
  ]
  const unlisted = places.filter(
    ([, model]) =>
      !isBlank(model) && !models.some(({ id, provider }) => id === model && provider === value.id),
  )
  const seen = new Set<string>()
  return unlisted.flatMap(([field, model]) => {
    if (seen.has(model)) return []
    seen.add(model)
    return warn(
      'model_entry_missing',
      `providers.json: providers[${index}].${field}`,
      `the model '${model}' has no entry in models.json`,
      `add it to models.json with the provider '${value.id}'`,
    )
  })
}

function modelFaults({ value, index }: ModelEntry): ReadonlyArray<Finding> {
  if (value === null) return []
  const at = (field: string) => `models.json: models[${index}].${field}`
  const { reasoning } = value
  const found: Finding[] = []
  if (isBlank(value.id))
    found.push(fault('model_id_empty', at('id'), 'is empty', 'give the id the provider uses'))
  if (isBlank(value.provider)) {
    found.push(fault('model_provider_empty', at('provider'), 'is empty', 'name a provider of providers.json'))
  }
  if (value.context_length === 0) {
    found.push(
      fault('context_length_zero', at('context_length'), 'is 0', 'write the real size, or remove it'),
    )
  }
  if (value.max_output_tokens === 0) {
    found.push(
      fault('max_output_tokens_zero', at('max_output_tokens'), 'is 0', 'write the real limit, or remove it'),
    )
  }
  if (reasoning.required && !reasoning.supported) {
    const problem = 'is true, but reasoning.supported is false'
    found.push(
      fault('reasoning_required_unsupported', at('reasoning.required'), problem, 'change one of the two'),
    )
  }
  if (reasoning.required && reasoning.default_effort === 'off') {
    const problem = "is 'off', but reasoning.required is true"
    found.push(
      fault('reasoning_required_off', at('reasoning.default_effort'), problem, 'change one of the two'),
    )
  }
  return found
}

function unknownProviders(
  models: ReadonlyArray<ModelEntry>,
  providers: ReadonlyArray<ProviderEntry>,
): ReadonlyArray<Finding> {
  return models
    .filter(
      ({ provider }) =>
        provider !== null && !isBlank(provider) && !providers.some(({ id }) => id === provider),
    )
    .map(({ provider, index }) =>
      fault(
        'model_provider_unknown',
        `models.json: models[${index}].provider`,
        `the provider '${provider}' is not in providers.json`,
        'add the provider, or correct its id',
      ),
    )
}

function duplicateModels(models: ReadonlyArray<ModelEntry>): ReadonlyArray<Finding> {
  const isSame = (one: ModelEntry, other: ModelEntry) =>
    one.id === other.id && one.provider === other.provider
  return models
    .filter(({ id, provider }) => id !== null && provider !== null)
    .filter((entry) => models.some((other) => other.index < entry.index && isSame(entry, other)))
    .map(({ id, provider, index }) =>
      fault(
        'duplicate_model',
        `models.json: models[${index}].id`,
        `duplicate model '${id}' of the provider '${provider}'`,
        'remove one of the two',
      ),
    )
}

function configFaults(
  config: ConfigFile,
  providers: ReadonlyArray<ProviderEntry> | null,
): ReadonlyArray<Finding> {
  const at = (field: string) => `config.json: ${field}`
  const found: Finding[] = []
  const named = config.default_provider
  if (providers !== null && named !== null && !isBlank(named) && !providers.some(({ id }) => id === named)) {
    const problem = `the provider '${named}' is not in providers.json`
    found.push(
      fault(
        'default_provider_unknown',
        at('default_provider'),
        problem,
        'add the provider, or correct its id',
      ),
    )
  }
  if (config.base_url !== null && !isBlank(config.base_url)) {
    const problem = baseUrlProblem(config.base_url)
    if (problem !== null) {
      found.push(
        fault('base_url_invalid', at('base_url'), problem, 'write a URL like https://api.example.com/v1'),
      )
    }
  }
  if (config.api_key_env !== null && !isBlank(config.api_key_env) && !isVariableName(config.api_key_env)) {
    const problem = 'is not the name of an environment variable'
    found.push(fault('api_key_env_invalid', at('api_key_env'), problem, 'write the name, not the key itself'))
  }
  const successors = {
    provider: 'default_provider',
    model: 'default_model',
    base_url: 'providers.json',
    api_key_env: 'providers.json',
  } as const
  for (const field of ['provider', 'model', 'base_url', 'api_key_env'] as const) {
    if (config[field] === null) continue
    found.push(warn('deprecated_field', at(field), 'is deprecated', `use ${successors[field]} in its place`))
  }
  return found
}

function fault(
  code: string,
  subject: string,
  problem: string,
  hint: string,
  severity: Severity = 'error',
): Finding {
  return { severity, code, subject, message: `${subject}: ${problem}`, hint }
}

function warn(code: string, subject: string, problem: string, hint: string): Finding {
  return fault(code, subject, problem, hint, 'warning')
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}
