import { CassError } from '../errors.ts'
import { showUrl } from './baseUrl.ts'
import type { ConfigFiles } from './files.ts'
import { type Finding, okFinding } from './finding.ts'
import {
  type ApiKey,
  type Environment,
  type KeyReference,
  resolveKey,
  showVariable,
  unbracedName,
} from './key.ts'
import { foreignKinds, openAiCompatible, type Provider } from './providersFile.ts'
import { type ConfigOverrides, type ResolvedConfig, resolveConfig } from './resolve.ts'

/** The provider that would be used, as far as it could be found out. */
export interface ActiveCheck {
  readonly findings: ReadonlyArray<Finding>
  /** Null: nothing could be resolved. */
  readonly config: ResolvedConfig | null
  /** Null: none is needed, or it could not be found. */
  readonly key: ApiKey | null
  /** Whether a request could be made. */
  readonly isUsable: boolean
}

/** Says which provider, model and key would be used, with the command line applied. */
export function checkActive(request: {
  readonly files: ConfigFiles
  readonly overrides: ConfigOverrides
  readonly env: Environment
}): ActiveCheck {
  let config: ResolvedConfig
  try {
    config = resolveConfig(request)
  } catch (error) {
    if (!(error instanceof CassError)) throw error
    const finding = errorFinding(error, 'active config', `active config: ${error.message}`)
    return { findings: [finding], config: null, key: null, isUsable: false }
  }
  const { provider, model, metadata } = config
  const findings = [
    okFinding('active_provider', provider.id, `active provider: ${provider.id}`),
    okFinding('active_base_url', provider.id, `active provider base URL: ${showUrl(provider.base_url)}`),
    okFinding('active_model', model, `active model: ${model}`),
    ...(metadata === null ? [unknownModel(model, provider.id)] : []),
  ]
  try {
    const key = resolveKey(config.key, request.env)
    const quoted = key !== null && isQuoted(key.reveal()) ? [quotedKey(config.key, provider.id)] : []
    return {
      findings: [...findings, keyFinding(config.key, provider.id), ...quoted],
      config,
      key,
      isUsable: true,
    }
  } catch (error) {
    if (!(error instanceof CassError)) throw error
    const { variable } = config.key
    const message =
      variable === null ? `api key: ${error.message}` : `api key: ${variableProblem(error.code, variable)}`
    return {
      findings: [...findings, errorFinding(error, subjectOfKey(config.key, provider.id), message)],
      config,
      key: null,
      isUsable: false,
    }
  }
}

/** What would stand in the way of switching to another provider. */
export function checkInactive({
  providers,
  activeId,
  env,
}: {
  readonly providers: ReadonlyArray<Provider>
  readonly activeId: string | null
  readonly env: Environment
}): ReadonlyArray<Finding> {
  return providers.flatMap(({ id, kind, api_key }) => {
    if (id === activeId) return []
    if (foreignKinds.includes(kind)) {
      const message = `provider '${id}': left alone, only other programs use the kind '${kind}'`
      return [okFinding('provider_left_alone', id, message)]
    }
    const { variable } = api_key
    if (kind !== openAiCompatible || variable === null) return []
    const value = env[variable]
    if (value !== undefined && value.trim() !== '') return []
    const code = value === undefined ? 'api_key_missing' : 'api_key_empty'
    const message = `provider '${id}' api key: ${variableProblem(code, variable)}`
    const braced = unbracedName(variable)
    const hint =
      braced === null
        ? `set ${showVariable(variable)} before you switch to this provider`
        : `write '$${braced}', without braces`
    return [{ severity: 'warning', code: 'inactive_api_key_missing', subject: id, message, hint }]
  })
}

function errorFinding(error: CassError, subject: string, message: string): Finding {
  return { severity: 'error', code: error.code, subject, message, hint: error.hint }
}

function unknownModel(model: string, provider: string): Finding {
  return {
    severity: 'warning',
    code: 'active_model_unknown',
    subject: model,
    message: `active model: '${model}' has no entry in models.json for the provider '${provider}'`,
    hint: 'add it, so that its context length and reasoning are known',
  }
}

function keyFinding(key: KeyReference, provider: string): Finding {
  const subject = subjectOfKey(key, provider)
  if (key.form === 'none')
    return okFinding('api_key_not_required', subject, 'api key: not required (local API)')
  if (key.form === 'literal')
    return okFinding('api_key_literal', subject, 'api key: literal value configured')
  return okFinding('api_key_set', subject, `api key: ${subject} is set`)
}

/** Shells take quotes off, but the files that programs read variables from mostly do not. */
function isQuoted(key: string): boolean {
  return /^(["'`]).*\1$/.test(key)
}

function quotedKey(key: KeyReference, provider: string): Finding {
  const subject = subjectOfKey(key, provider)
  const message = `api key: ${key.variable === null ? 'the literal value' : subject} has quotes around it`
  return {
    severity: 'warning',
    code: 'api_key_quoted',
    subject,
    message,
    hint: 'remove them: they are sent too',
  }
}

function subjectOfKey(key: KeyReference, provider: string): string {
  return key.variable === null ? provider : showVariable(key.variable)
}

function variableProblem(code: string, variable: string): string {
  const problem = { api_key_missing: 'is not set', api_key_empty: 'is empty' }[code] ?? 'holds no usable key'
  return `environment variable '${showVariable(variable)}' ${problem}`
}
