import { CassError } from '../errors.ts'
import { originOf } from './baseUrl.ts'
import type { ConfigFiles } from './files.ts'
import { type KeyReference, makeVariableReference, noKey } from './key.ts'
import { defaultModelId, openAiCompatible, type Provider } from './providersFile.ts'

/** What the command line says about the connection; null: not given. */
export interface ConnectionOverrides {
  readonly model: string | null
  readonly base_url: string | null
  readonly api_key_env: string | null
}

/** A provider of the registry, or one made of loose connection fields, before the command line changes it. */
export interface Connection {
  readonly id: string
  readonly name: string | null
  readonly kind: string
  /** Null: only the command line names one. */
  readonly base_url: string | null
  readonly key: KeyReference
  readonly default_model: string | null
  readonly models: ReadonlyArray<string>
  /** Whether config.json's deprecated `base_url` and `api_key_env` still have to be laid over it. */
  readonly takesFileFields: boolean
}

const legacyId = 'legacy-openai-compatible'

/**
 * Decides which provider is meant: `default_provider` (or the deprecated `provider`) of config.json, unless `--model` names a
 * model that only another provider has; then loose connection fields of config.json; then the owner of the model;
 * then `fireworks`, or the only one. Where nothing can be chosen but a base URL is given, a provider is made of it.
 */
export function chooseProvider(files: ConfigFiles, overrides: ConnectionOverrides): Connection {
  const { config, providers } = files
  const named = textOf(config.default_provider)
  const legacyName = textOf(config.provider)
  const explicit = named ?? (findProvider(providers, legacyName) === null ? null : legacyName)
  const registered = findProvider(providers, explicit)
  if (registered !== null) {
    const owner = followModel(files, registered, overrides.model)
    return fromRegistry(files, owner ?? registered, { takesFileFields: named === null })
  }
  const id = explicit ?? legacyName ?? legacyId
  const fileUrl = textOf(config.base_url)
  const fileKey = textOf(config.api_key_env)
  if (explicit === null && fileUrl !== null && (fileKey !== null || legacyName !== null)) {
    return fromFields(id, fileUrl, fileKey)
  }
  const chosen =
    explicit === null
      ? inferProvider(files, overrides.model ?? textOf(config.default_model) ?? textOf(config.model))
      : missingProvider(`the provider '${explicit}' of config.json is not in providers.json`, explicit)
  if (!(chosen instanceof CassError)) return fromRegistry(files, chosen, { takesFileFields: true })
  if (fileUrl === null && overrides.base_url === null) throw chosen
  return fromFields(id, fileUrl, fileKey)
}

/** A provider made of the command line's own base URL, for a home that was never set up. */
export function makeLooseConnection(): Connection {
  return fromFields(legacyId, null, null)
}

/** Null for blank texts too: in config.json they count as absent. */
export function textOf(value: string | null): string | null {
  return value === null || value.trim() === '' ? null : value
}

/** Whether a variable named in config.json belongs to providers of other origins only. */
export function isForeignVariable(
  providers: ReadonlyArray<Provider>,
  variable: string,
  baseUrl: string,
): boolean {
  const owners = providers.filter((provider) => provider.api_key.variable === variable)
  return owners.length > 0 && !owners.some((provider) => originOf(provider.base_url) === originOf(baseUrl))
}

function inferProvider(files: ConfigFiles, requested: string | null): Provider | CassError {
  const { providers } = files
  if (providers.length === 0) return noProvider()
  const model = requested ?? defaultModelId
  // A model that nobody asked for cannot be missed.
  const owners = ownersOf(files, model).filter(
    (id) => requested !== null || findProvider(providers, id) !== null,
  )
  const [owner] = owners
  if (owners.length > 1) {
    const message = `the model '${model}' belongs to several providers: ${owners.map((id) => `'${id}'`).join(', ')}`
    return new CassError('model_ambiguous', message, { hint: 'set default_provider in config.json' })
  }
  if (owner !== undefined) {
    const message = `the provider '${owner}' of the model '${model}' is not in providers.json`
    return findProvider(providers, owner) ?? missingProvider(message, owner)
  }
  const fallback = findProvider(providers, 'fireworks') ?? (providers.length === 1 ? providers[0] : undefined)
  if (fallback !== undefined) return fallback
  return new CassError('provider_ambiguous', 'providers.json has several providers and none is the default', {
    hint: 'set default_provider in config.json',
  })
}

/** The one other provider that has the model, when the default one does not know it. */
function followModel(files: ConfigFiles, registered: Provider, model: string | null): Provider | null {
  if (model === null) return null
  const owners = ownersOf(files, model)
  const [owner] = owners
  if (owner === undefined || owners.length !== 1 || owner === registered.id) return null
  return findProvider(files.providers, owner)
}

function ownersOf({ providers, models }: ConfigFiles, model: string): ReadonlyArray<string> {
  const mentions = providers.filter(
    (provider) => provider.default_model === model || provider.models.includes(model),
  )
  const entries = models.filter(({ id }) => id === model)
  return [...new Set([...entries.map(({ provider }) => provider), ...mentions.map(({ id }) => id)])].sort()
}

function findProvider(providers: ReadonlyArray<Provider>, id: string | null): Provider | null {
  return providers.find((provider) => provider.id === id) ?? null
}

function fromRegistry(
  { providers }: ConfigFiles,
  provider: Provider,
  { takesFileFields }: Pick<Connection, 'takesFileFields'>,
): Connection {
  const { id, name, kind, base_url, api_key, default_model, models } = provider
  // Which of the two is meant, and so which key goes where, cannot be told.
  if (providers.filter((other) => other.id === id).length > 1) {
    throw new CassError('duplicate_provider', `providers.json has the provider '${id}' twice`, {
      hint: 'rename or remove one of them',
    })
  }
  return { id, name, kind, base_url, key: api_key, default_model, models, takesFileFields }
}

function fromFields(id: string, baseUrl: string | null, keyVariable: string | null): Connection {
  return {
    id,
    name: 'Legacy OpenAI-compatible provider',
    kind: openAiCompatible,
    base_url: baseUrl,
    key: keyVariable === null ? noKey : makeVariableReference(keyVariable),
    default_model: null,
    models: [],
    takesFileFields: false,
  }
}

/** The error of a home in which no provider was ever set up. */
export function noProvider(): CassError {
  return new CassError('no_provider', 'no provider is set up', {
    hint: "run 'cass setup' (until it is there: give --base-url and --model, or write providers.json), or try --demo",
  })
}

function missingProvider(message: string, id: string): CassError {
  return new CassError('provider_not_found', message, {
    hint: `add '${id}' to providers.json, or choose another provider with default_provider in config.json`,
  })
}
