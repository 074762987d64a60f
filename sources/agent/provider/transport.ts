import type { Dispatcher } from 'undici'
import { tryParseRetryAfter } from './backOff.ts'
import { ProviderError } from './errors.ts'
import { EventStreamReader } from './eventStream.ts'
import { formatNoProxy, type Proxies } from './proxies.ts'
import type { Refusal } from './refusal.ts'

const longestErrorBody = 64 * 1024
/** How long a server may take to end its answer behind `[DONE]` before its connection is given up. */
const longestFarewellMs = 250

/** What one request saw of its answer, beside what the SDK reports. */
export interface Exchange {
  refusal: Refusal | null
  /** What the network said; the SDK drops the cause of some of these. Null: it carried the request. */
  networkError: unknown
  /** Reads the event stream; null when the answer is none. */
  stream: EventStreamReader | null
}

export interface FetchOptions {
  readonly key: string | null
  readonly userAgent: string
  readonly dispatcher: Dispatcher
  readonly now: () => number
  /** Called for each sign of life of the server. */
  readonly onActivity: () => void
  readonly exchange: Exchange
}

/**
 * Makes the connection pool. It has a time limit for connecting only: undici's own limits of 300 s for headers
 * and between pieces are lifted, since the caller watches the silence.
 */
export async function makeDispatcher(connectMs: number, proxies: Proxies): Promise<Dispatcher> {
  const limits = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: connectMs } }
  if (proxies.http === '' && proxies.https === '') {
    const { default: Agent } = await import('undici/lib/dispatcher/agent.js')
    return new Agent(limits)
  }
  // `default` is there in Node and in a bundle; the names are not in a bundle, since undici is CommonJS.
  const { default: undici } = await import('undici')
  try {
    return new undici.EnvHttpProxyAgent({
      ...limits,
      // Given also when empty: for a missing value undici would look into the environment by itself.
      httpProxy: proxies.http,
      httpsProxy: proxies.https,
      noProxy: formatNoProxy(proxies),
      requestTls: { timeout: connectMs },
      proxyTls: { timeout: connectMs },
    })
  } catch {
    // Not passed on as a cause: that error holds the address, in which there may be a password.
    throw new ProviderError('provider_refused_connection', 'a proxy variable holds no usable address', {
      hint: "set 'HTTP_PROXY' and 'HTTPS_PROXY' to addresses such as 'http://proxy.example:3128'",
      data: {},
      partial: null,
    })
  }
}

/** The `fetch` that is given to the SDK for one request. */
export function makeFetch(options: FetchOptions) {
  const { key, userAgent, dispatcher, now, onActivity, exchange } = options
  return async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    // The SDK's own headers tell of the machine, and may hold values of OPENAI_… variables: none is passed on.
    const headers = {
      accept: 'text/event-stream, application/json',
      'user-agent': userAgent,
      ...(init.body === undefined || init.body === null ? {} : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    }
    const response = await fetch(url, { ...init, headers, ...asInit(dispatcher) }).catch((error: unknown) => {
      exchange.networkError = error
      throw error
    })
    onActivity()
    if (!response.ok) {
      exchange.refusal = await readRefusal(response, now())
      return new Response(exchange.refusal.body, { status: response.status, headers: response.headers })
    }
    const { body } = response
    if (body === null) return response
    const type = response.headers.get('content-type') ?? ''
    if (/json/i.test(type) || init.method === 'GET') return response
    exchange.stream = new EventStreamReader()
    return new Response(tapBody(body, exchange.stream, onActivity), { headers: response.headers })
  }
}

/** Node's fetch takes a dispatcher of undici, which its types know under another version. */
function asInit(dispatcher: Dispatcher): RequestInit {
  const init: { dispatcher: unknown } = { dispatcher }
  return init as RequestInit
}

async function readRefusal(response: Response, now: number): Promise<Refusal> {
  let body = ''
  const decoder = new TextDecoder()
  try {
    for await (const bytes of response.body ?? []) {
      body += decoder.decode(bytes, { stream: true })
      // Leaving the loop closes the connection; a page without end is not read to its end.
      if (body.length > longestErrorBody) break
    }
  } catch {
    // The status is known, and says enough also when the text behind it breaks off.
  }
  return {
    status: response.status,
    body,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: tryParseRetryAfter(response.headers, now),
  }
}

function tapBody(
  body: ReadableStream<Uint8Array>,
  stream: EventStreamReader,
  onActivity: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read()
        onActivity()
        const frames = done ? stream.end() : stream.push(value)
        if (frames !== '') controller.enqueue(encoder.encode(frames))
        if (done || stream.isDone) {
          controller.close()
          if (!done) void readFarewell(reader)
          return
        }
        if (frames !== '') return
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Reads what is behind `[DONE]`, mostly nothing, so that the connection can be used again. Never rejects. */
async function readFarewell(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => reader.cancel().catch(() => undefined), longestFarewellMs)
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is whole; how its connection ends does not matter.
  } finally {
    clearTimeout(timer)
  }
}
