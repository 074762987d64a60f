import { CassError } from '../errors.ts'
import { baseUrlProblem, isLoopback, originOf, showUrl } from './baseUrl.ts'
import {
  type Connection,
  type ConnectionOverrides,
  chooseProvider,
  isForeignVariable,
  makeLooseConnection,
  noProvider,
  textOf,
} from './chooseProvider.ts'
import type { AccessMode, ReasoningEffort } from './configFile.ts'
import { clampEffort, defaultEffort } from './effort.ts'
import type { ConfigFiles } from './files.ts'
import { type Environment, isVariableName, type KeyReference, makeVariableReference, noKey } from './key.ts'
import type { Model } from './modelsFile.ts'
import {
  defaultModelId,
  defaultProviders,
  foreignKinds,
  kindHint,
  openAiCompatible,
  stringifyProvidersFile,
} from './providersFile.ts'
import type { Settings } from './settingsFile.ts'

/** What the command line says; an omitted or null field is not given. */
export interface ConfigOverrides {
  readonly model?: string | null
  readonly base_url?: string | null
  readonly api_key_env?: string | null
  readonly access_mode?: AccessMode | null
  readonly reasoning_effort?: ReasoningEffort | null
}

/** Everything that a turn needs to know from files and command line. Holds no key, only where it is. */
export interface ResolvedConfig {
  readonly provider: {
    readonly id: string
    readonly name: string | null
    readonly kind: string
    readonly base_url: string
  }
  /** For `resolveKey`. Of the form `none` when the server is local and wants no key. */
  readonly key: KeyReference
  readonly model: string
  /** Null: models.json does not have the model. */
  readonly metadata: Model | null
  /** The provider that models.json names for this model, when providers.json has no such provider; else null. */
  readonly stray_provider: string | null
  readonly reasoning_effort: ReasoningEffort
  readonly access_mode: AccessMode
  readonly context_message_limit: number
  readonly model_tool_result_limit: number
  readonly show_reasoning: boolean
  readonly confirm_destructive_operations: boolean
  readonly settings: Settings
}

export interface ResolveRequest {
  readonly files: ConfigFiles
  readonly overrides: ConfigOverrides
  /** Only asked whether the built-in provider's key is there. */
  readonly env: Environment
}

/**
 * Joins files and command line. Command line wins over config.json, config.json over the defaults. Throws
 * `no_provider`, `provider_not_found`, `provider_ambiguous`, `duplicate_provider`, `model_ambiguous`,
 * `provider_kind_unsupported`, `base_url_invalid`, `api_key_invalid`, or `key_host_mismatch`.
 */
export function resolveConfig({ files, overrides, env }: ResolveRequest): ResolvedConfig {
  const { config } = files
  const given = connectionOverrides(overrides)
  const connection = chooseConnection(files, given, env)
  requireUsableKind(connection)
  const baseUrl = requireBaseUrl(connection, given.base_url ?? fileField(connection, config.base_url))
  const key = keyFor({ files, given, connection, baseUrl })
  const requested = given.model ?? textOf(config.default_model) ?? textOf(config.model)
  const model = requested ?? defaultModelOf(connection, files.models)
  const metadata = files.models.find(({ id, provider }) => id === model && provider === connection.id) ?? null
  const stray =
    metadata === null
      ? files.models.find(({ id, provider }) => id === model && isStray(files, provider))
      : undefined
  const effort = overrides.reasoning_effort ?? config.default_reasoning_effort
  return {
    provider: { id: connection.id, name: connection.name, kind: connection.kind, base_url: baseUrl },
    key,
    model,
    metadata,
    stray_provider: stray?.provider ?? null,
    reasoning_effort: effort === null ? defaultEffort(metadata) : clampEffort(effort, metadata),
    access_mode: overrides.access_mode ?? config.default_access_mode ?? 'read-only',
    context_message_limit: Math.max(1, config.context_message_limit ?? 80),
    model_tool_result_limit: config.model_tool_result_limit ?? 24_000,
    show_reasoning: config.show_reasoning ?? false,
    confirm_destructive_operations: config.confirm_destructive_operations ?? false,
    settings: files.settings,
  }
}

function isStray({ providers }: ConfigFiles, provider: string): boolean {
  return !providers.some(({ id }) => id === provider)
}

/** What a provider is asked for when nobody names a model. */
function defaultModelOf({ id, default_model, models }: Connection, known: ReadonlyArray<Model>): string {
  const own = textOf(default_model) ?? models.find((model) => model.trim() !== '')
  return own ?? known.find(({ provider }) => provider === id)?.id ?? defaultModelId
}

function connectionOverrides({ model, base_url, api_key_env }: ConfigOverrides): ConnectionOverrides {
  if (model?.trim() === '')
    throw usageError('model_empty', '--model is empty', 'name a model, or leave it out')
  if (api_key_env != null && !isVariableName(api_key_env)) {
    // Not repeated: a key is sometimes given here by mistake.
    const message = '--api-key-env is not the name of an environment variable'
    throw usageError('api_key_env_invalid', message, 'give a name like OPENAI_API_KEY, not the key itself')
  }
  const problem = base_url == null ? null : baseUrlProblem(base_url)
  if (problem !== null) {
    throw usageError('base_url_invalid', `--base-url ${problem}`, 'give a URL like http://localhost:8080/v1')
  }
  return { model: model ?? null, base_url: base_url?.trim() ?? null, api_key_env: api_key_env ?? null }
}

function chooseConnection(files: ConfigFiles, given: ConnectionOverrides, env: Environment): Connection {
  const chosen = chooseProvider(files, given)
  if (!isNeverConfigured(files)) return chosen
  const leavesDefault =
    given.base_url !== null && originOf(given.base_url) !== originOf(chosen.base_url ?? '')
  if (leavesDefault && (given.api_key_env !== null || isLoopback(given.base_url ?? ''))) {
    return makeLooseConnection()
  }
  const { variable } = chosen.key
  const hasKey = given.api_key_env !== null || (variable !== null && (env[variable] ?? '').trim() !== '')
  if (!hasKey && !leavesDefault) throw noProvider()
  return chosen
}

/** Nobody chose a provider yet: there is only the built-in one, and config.json says nothing about it. */
function isNeverConfigured({ config, providers, present }: ConfigFiles): boolean {
  const { default_provider, default_model, provider, model, base_url, api_key_env } = config
  if (
    [default_provider, default_model, provider, model, base_url, api_key_env].some((field) => field !== null)
  ) {
    return false
  }
  return !present.providers || stringifyProvidersFile(providers) === stringifyProvidersFile(defaultProviders)
}

function requireUsableKind({ id, kind }: Connection): void {
  if (kind === openAiCompatible) return
  throw new CassError(
    'provider_kind_unsupported',
    `the provider '${id}' is of the kind '${kind}', which is not supported`,
    {
      hint: foreignKinds.includes(kind)
        ? `choose a provider of the kind '${openAiCompatible}': set default_provider in config.json`
        : `${kindHint} as its kind in providers.json`,
    },
  )
}

function requireBaseUrl(connection: Connection, override: string | null): string {
  const baseUrl = (override ?? connection.base_url ?? '').trim()
  const problem = baseUrlProblem(baseUrl)
  if (problem === null) return baseUrl
  throw new CassError('base_url_invalid', `the base_url of the provider '${connection.id}' ${problem}`, {
    hint: 'correct base_url in providers.json or config.json',
  })
}

/** A deprecated field of config.json, when the connection takes it. */
function fileField(connection: Connection, field: string | null): string | null {
  return connection.takesFileFields ? textOf(field) : null
}

interface KeyRequest {
  readonly files: ConfigFiles
  readonly given: ConnectionOverrides
  readonly connection: Connection
  readonly baseUrl: string
}

/**
 * The key for a server. A stored key belongs to the origin for which it was stored, and only `--api-key-env` sends one
 * anywhere else; a local server then gets none.
 */
function keyFor({ files, given, connection, baseUrl }: KeyRequest): KeyReference {
  if (given.api_key_env !== null) return makeVariableReference(given.api_key_env)
  const fileUrl = fileField(connection, files.config.base_url)
  const fileKey = fileField(connection, files.config.api_key_env)
  const key = fileKey === null ? connection.key : makeVariableReference(fileKey)
  const home = fileKey === null ? connection.base_url : (fileUrl ?? connection.base_url)
  const isForeign =
    fileKey !== null && fileUrl === null && isForeignVariable(files.providers, fileKey, baseUrl)
  const isLocal = isLoopback(baseUrl)
  if (key.form === 'none' && !isLocal) throw missingKey(connection.id)
  const belongs = home !== null && originOf(home) === originOf(baseUrl) && !isForeign
  if (key.form === 'none' || belongs) return key
  if (isLocal) return noKey
  throw new CassError(
    'key_host_mismatch',
    `the key of the provider '${connection.id}' is not sent to '${showUrl(baseUrl)}', for which it was not stored`,
    { hint: 'name the environment variable with the key for that server with --api-key-env' },
  )
}

function missingKey(id: string): CassError {
  return new CassError('api_key_invalid', `the provider '${id}' has no API key`, {
    hint: `set its api_key in providers.json to '$NAME', or name the variable with --api-key-env`,
  })
}

function usageError(code: string, message: string, hint: string): CassError {
  return new CassError(code, message, { kind: 'usage', hint })
}
