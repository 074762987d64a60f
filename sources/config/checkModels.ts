import { type Finding, okFinding } from './finding.ts'
import type { ApiKey } from './key.ts'
import type { ResolvedConfig } from './resolve.ts'

/** Asks a provider for the ids of its models. Must end when `signal` is aborted; may throw. */
export type ListModels = (request: {
  readonly config: ResolvedConfig
  readonly key: ApiKey | null
  readonly signal: AbortSignal
}) => Promise<ReadonlyArray<string>>

/** How many of a provider's models are named in place of one that it does not have. */
const maxListed = 10

/** Asks the active provider for its models, for at most `limitMs`. */
export async function checkModels({
  config,
  key,
  listModels,
  limitMs,
}: {
  readonly config: ResolvedConfig
  readonly key: ApiKey | null
  readonly listModels: ListModels
  readonly limitMs: number
}): Promise<Finding> {
  const subject = config.provider.id
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`no answer within ${limitMs / 1000} s`)
      controller.abort(error)
      reject(error)
    }, limitMs)
  })
  try {
    const ids = await Promise.race([listModels({ config, key, signal: controller.signal }), late])
    if (ids.includes(config.model)) {
      return okFinding(
        'models_listed',
        subject,
        `provider answers: ${ids.length} models, '${config.model}' among them`,
      )
    }
    const some = ids.slice(0, maxListed).join(', ') + (ids.length > maxListed ? ', …' : '')
    return {
      severity: 'warning',
      code: 'model_not_listed',
      subject,
      message: `provider answers, but '${config.model}' is not among its ${ids.length} models`,
      hint: `choose another model with --model, or with default_model in config.json${some === '' ? '' : `: ${some}`}`,
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `provider does not answer: ${key === null ? reason : key.redact(reason)}`
    const hint = 'see that the base URL and the key are right, and that the network is up'
    return { severity: 'error', code: 'probe_failed', subject, message, hint }
  } finally {
    clearTimeout(timer)
  }
}
