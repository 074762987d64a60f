import type { Dispatcher } from 'undici'
import type { Completion, ModelEvent, ModelRequest, PartialAnswer } from '../model.ts'
import { AnswerBuilder } from './answer.ts'
import { cleanText } from './cleanText.ts'
import { classifyConnectionError } from './connectionFailure.ts'
import type { Endpoint } from './endpoint.ts'
import type { Failure } from './errors.ts'
import { tryParseJson } from './fields.ts'
import { type IdleWatch, startIdleWatch } from './idleWatch.ts'
import { classifyErrorEvent, classifyRefusal, makeFailure, refusesStreamOptions } from './refusal.ts'
import { makeRequestBody } from './requestBody.ts'
import { type Exchange, makeFetch } from './transport.ts'

/** Characters of one answer. No model writes as much; a server that never ends would fill the memory. */
const maxAnswerSize = 32 * 1024 * 1024

export interface AttemptOptions {
  readonly endpoint: Endpoint
  readonly key: string | null
  readonly userAgent: string
  readonly timeouts: { readonly idleSeconds: number }
  readonly supportsTools: boolean
  readonly supportsStreaming: boolean
  readonly withUsage: boolean
  readonly dispatcher: Dispatcher
  readonly makeCallId: () => string
  readonly now: () => number
  readonly signal: AbortSignal
  readonly emit: (event: ModelEvent) => void
}

/** How one request ended. */
export type Outcome =
  | { readonly type: 'completed'; readonly completion: Completion }
  | { readonly type: 'aborted'; readonly partial: PartialAnswer }
  | {
      readonly type: 'failed'
      readonly failure: Failure
      readonly builder: AnswerBuilder
      /** True when it was refused for its `stream_options`. */
      readonly refusesUsage: boolean
    }

/** Sends one request and reads its answer. Rejects only for a bug. */
export async function attempt(request: ModelRequest, options: AttemptOptions): Promise<Outcome> {
  const { signal, timeouts, key } = options
  const builder = new AnswerBuilder()
  // Before the watch: to load the SDK is no silence of the provider.
  const { default: OpenAI } = await import('openai')
  const exchange: Exchange = { refusal: null, networkError: null, stream: null }
  const watch = startIdleWatch(timeouts.idleSeconds * 1000, signal)
  try {
    const thrown = await receive(request, { ...options, OpenAI, builder, exchange, watch })
    if (signal.aborted) return { type: 'aborted', partial: builder.partial() }
    const completion = thrown === null && !watch.isExpired() ? complete(builder, exchange, options) : null
    if (completion !== null) return { type: 'completed', completion }
    const { refusal } = exchange
    const failure = watch.isExpired()
      ? makeFailure('provider_timeout', `was silent for ${timeouts.idleSeconds} s`)
      : refusal !== null
        ? classifyRefusal(refusal, key)
        : thrown !== null
          ? classifyThrown(exchange.networkError ?? thrown.error, key)
          : explainIncomplete(builder, exchange, key)
    return {
      type: 'failed',
      failure,
      builder,
      refusesUsage: refusal !== null && refusesStreamOptions(refusal),
    }
  } finally {
    watch.stop()
  }
}

interface Receiving extends AttemptOptions {
  readonly OpenAI: typeof import('openai').default
  readonly builder: AnswerBuilder
  readonly exchange: Exchange
  readonly watch: IdleWatch
}

/** Gives the answer to the builder, piece by piece. Returns what was thrown; null when all was read. */
async function receive(
  request: ModelRequest,
  options: Receiving,
): Promise<{ readonly error: unknown } | null> {
  const { OpenAI, endpoint, supportsStreaming: stream, builder, exchange, watch, emit } = options
  const push = (chunk: unknown) => {
    for (const event of builder.push(chunk)) emit(event)
    if (builder.size > maxAnswerSize) throw new RangeError('the answer has no end')
  }
  const client = new OpenAI({
    baseURL: endpoint.root,
    defaultQuery: { ...endpoint.query },
    // The real key is set by our own fetch, so the SDK cannot show it anywhere. Null: do not look for variables.
    apiKey: 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
    fetch: makeFetch({ ...options, onActivity: watch.touch }),
  })
  try {
    const body = makeRequestBody(request, { ...options, stream })
    const { data, response } = await client
      .post<AsyncIterable<unknown>>('/chat/completions', { body, stream, signal: watch.signal })
      .withResponse()
    if (stream && exchange.stream !== null) {
      for await (const chunk of data) push(chunk)
    } else {
      // Asked for one piece, or a server that does not stream although it was asked to.
      push(stream ? tryParseJson(await response.text()) : data)
    }
    return null
  } catch (error) {
    return { error }
  }
}

function complete(
  builder: AnswerBuilder,
  exchange: Exchange,
  { makeCallId }: AttemptOptions,
): Completion | null {
  return builder.finish({ isEnded: exchange.stream === null || exchange.stream.isDone, makeCallId })
}

function classifyThrown(error: unknown, key: string | null): Failure {
  if (error instanceof SyntaxError) {
    return makeFailure(
      'provider_bad_answer',
      `sent a piece that is not JSON (${cleanText(error.message, key)})`,
    )
  }
  // Ours above, or of V8 for a text or a nesting that it cannot hold.
  if (error instanceof RangeError) {
    return makeFailure('provider_bad_answer', 'sent an answer that is too large or too deeply nested')
  }
  // The SDK throws the error event of a stream as an error that carries it, without a status.
  const event = error instanceof Error && 'error' in error ? error.error : undefined
  return event === undefined || event === null
    ? classifyConnectionError(error, key)
    : classifyErrorEvent(event, key)
}

function explainIncomplete(builder: AnswerBuilder, { stream }: Exchange, key: string | null): Failure {
  if (builder.error !== null) return classifyErrorEvent(builder.error, key)
  if (builder.isFiltered)
    return makeFailure('provider_bad_answer', 'gave no answer: its content filter stopped it')
  if (builder.hasChunks) {
    return {
      ...makeFailure('provider_cut_stream', 'ended its answer before it was whole'),
      isTemporary: true,
    }
  }
  const beginning = cleanText((stream?.beginning ?? '').slice(0, 200), key)
  const looks = /^\s*</.test(beginning) ? 'a web page' : 'nothing that is part of an answer'
  return makeFailure('provider_bad_answer', `sent ${looks}${beginning === '' ? '' : `: ${beginning}`}`)
}
