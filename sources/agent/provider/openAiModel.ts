import { setTimeout as wait } from 'node:timers/promises'
import { AbortedAnswer, type Model } from '../model.ts'
import { emptyAnswer } from './answer.ts'
import { attempt } from './attempt.ts'
import { describeRetry, planRetry } from './backOff.ts'
import { parseEndpoint, parseKey } from './endpoint.ts'
import { makeProviderError } from './errors.ts'
import type { Proxies } from './proxies.ts'
import { makeDispatcher } from './transport.ts'

export interface OpenAiModelOptions {
  /** The API's root, or its full `…/chat/completions` address. */
  readonly baseUrl: string
  /** Null or empty: no `Authorization` header is sent. */
  readonly key: string | null
  /** How often a request is repeated after a temporary failure (setting `retries`). */
  readonly maxRetries: number
  /** Setting `requestTimeouts`; `idleSeconds` limits the silence before and between the pieces of an answer. */
  readonly timeouts: { readonly connectSeconds: number; readonly idleSeconds: number }
  readonly proxies: Proxies
  /** False: tools are never offered to the model. */
  readonly supportsTools: boolean
  /** False: the answer is asked for in one piece. */
  readonly supportsStreaming: boolean
  readonly userAgent: string
  /** Makes an id for a tool call that came without one; must never repeat itself. */
  readonly makeCallId: () => string
  /** Milliseconds since 1970, to read a `Retry-After` date. */
  readonly now: () => number
  /** From 0 to 1, for the jitter of the back-off. */
  readonly random: () => number
  /** Waits between retries; may end early when the signal is aborted. Omitted: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Makes a model that asks an OpenAI-compatible server. Throws a `ProviderError` for a base URL that is none. */
export function makeOpenAiModel(options: OpenAiModelOptions): Model {
  const endpoint = parseEndpoint(options.baseUrl)
  const key = parseKey(options.key)
  const sleep = options.sleep ?? sleepByTimer
  const dispatcher = makeDispatcher(options.timeouts.connectSeconds * 1000, options.proxies)
  // Both load while the caller still saves the user's message; what fails in it, the first request tells.
  dispatcher.catch(() => {})
  import('openai').catch(() => {})
  // Some servers refuse `stream_options`; what one of them said holds for its next request too.
  let withUsage = true

  return async (request, { signal, emit }) => {
    for (let retries = 0, sent = 1; ; sent++) {
      if (signal.aborted) throw new AbortedAnswer(emptyAnswer)
      const outcome = await attempt(request, {
        ...options,
        endpoint,
        key,
        dispatcher: await dispatcher,
        withUsage,
        signal,
        emit,
      })
      if (outcome.type === 'completed') return outcome.completion
      if (outcome.type === 'aborted') throw new AbortedAnswer(outcome.partial)
      const { failure, builder, refusesUsage } = outcome
      if (refusesUsage && withUsage) {
        withUsage = false
        continue
      }
      const waitMs = builder.hasEmitted
        ? null
        : planRetry(failure, { retries, maxRetries: options.maxRetries, random: options.random() })
      if (waitMs === null) {
        throw makeProviderError(failure, {
          host: endpoint.host,
          attempts: sent,
          partial: builder.partialOrNull(),
        })
      }
      retries += 1
      const { host } = endpoint
      emit({
        type: 'status',
        text: describeRetry(failure, { host, waitMs, retry: retries, maxRetries: options.maxRetries }),
      })
      await sleep(waitMs, signal)
    }
  }
}

async function sleepByTimer(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal })
  } catch (error) {
    // The caller looks at the signal itself.
    if (!signal.aborted) throw error
  }
}
