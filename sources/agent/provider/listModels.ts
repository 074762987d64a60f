import { classifyConnectionError } from './connectionFailure.ts'
import { parseEndpoint, parseKey } from './endpoint.ts'
import { type Failure, makeProviderError } from './errors.ts'
import { readText, tryParseFields, tryParseJson } from './fields.ts'
import { startIdleWatch } from './idleWatch.ts'
import type { Proxies } from './proxies.ts'
import { classifyRefusal, makeFailure } from './refusal.ts'
import { type Exchange, makeDispatcher, makeFetch } from './transport.ts'

export interface ListModelsOptions {
  readonly baseUrl: string
  readonly key: string | null
  /** For everything: connecting, waiting and reading. */
  readonly timeoutMs: number
  readonly proxies: Proxies
  readonly userAgent: string
  readonly signal: AbortSignal
}

/**
 * Asks a provider for the ids of its models, in its order, once. Rejects with a `ProviderError`, or with the
 * signal's reason when it is aborted.
 */
export async function listModels(options: ListModelsOptions): Promise<ReadonlyArray<string>> {
  const { timeoutMs, proxies, userAgent, signal } = options
  const { root, host, query } = parseEndpoint(options.baseUrl)
  const key = parseKey(options.key)
  const fail = (failure: Failure) => makeProviderError(failure, { host, attempts: 1, partial: null })
  const exchange: Exchange = { refusal: null, networkError: null, stream: null }
  const watch = startIdleWatch(timeoutMs, signal)
  const dispatcher = await makeDispatcher(timeoutMs, proxies)
  try {
    const ask = makeFetch({ key, userAgent, dispatcher, now: () => 0, onActivity: () => undefined, exchange })
    const search = new URLSearchParams(query).toString()
    const url = `${root}/models${search === '' ? '' : `?${search}`}`
    const text = await (await ask(url, { method: 'GET', signal: watch.signal })).text()
    if (exchange.refusal !== null) throw fail(classifyRefusal(exchange.refusal, key))
    const ids = readIds(tryParseJson(text))
    if (ids === null) throw fail(makeFailure('provider_bad_answer', 'sent no list of models'))
    return ids
  } catch (error) {
    signal.throwIfAborted()
    if (watch.isExpired())
      throw fail(makeFailure('provider_timeout', `gave no list of models in ${timeoutMs} ms`))
    if (error instanceof Error && error.name === 'ProviderError') throw error
    throw fail(classifyConnectionError(error, key))
  } finally {
    watch.stop()
    await dispatcher.destroy()
  }
}

function readIds(value: unknown): ReadonlyArray<string> | null {
  const list = Array.isArray(value) ? value : tryParseFields(value)?.data
  if (!Array.isArray(list)) return null
  return list.map((model: unknown) => readText(tryParseFields(model)?.id).trim()).filter((id) => id !== '')
}
