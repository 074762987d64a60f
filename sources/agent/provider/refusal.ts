import { cleanText } from './cleanText.ts'
import type { Failure, ProviderErrorCode } from './errors.ts'
import { readText, tryParseFields, tryParseJson } from './fields.ts'

/** An HTTP answer that is no success. */
export interface Refusal {
  readonly status: number
  readonly body: string
  readonly requestId: string | null
  readonly retryAfterMs: number | null
}

interface Saying {
  readonly message: string
  readonly code: string
}

const contextTooLong =
  /context[_ ](length|window|size)|maximum context|context limit|prompt is too long|too many (input )?tokens|input (is )?too long|exceeds? the (available )?context|reduce the length/i
const noCredit =
  /insufficient_quota|insufficient (credits?|balance|funds)|billing|payment required|exceeded your current quota/i
const rateLimited = /rate.?limit|too many requests|overloaded_?error|overloaded/i

const hints: Readonly<Record<ProviderErrorCode, string>> = {
  provider_auth:
    "check the provider's 'api_key' in providers.json or the variable it names, then run 'cass check'",
  provider_bad_answer: "check that 'base_url' is the provider's API address, for most it ends in '/v1'",
  provider_bad_request:
    "check the model's entry in models.json: 'supports_tools', 'supports_streaming', 'reasoning'",
  provider_context_too_long:
    "set 'context_length' of the model in models.json to its real size, or branch from an earlier checkpoint",
  provider_cut_stream: 'run the turn again; what was received is kept',
  provider_not_found:
    "check 'base_url' and the model's id; 'cass check --probe' lists the models of the provider",
  provider_rate_limit: 'wait a moment and run the turn again, or choose another model',
  provider_refused_connection: "check 'base_url', that the server is running, and the proxy variables",
  provider_timeout: "run the turn again, or raise 'requestTimeouts' in settings.json for a slow server",
  provider_unavailable: 'run the turn again later, or choose another model',
}

/** The next step for each kind of failure. */
export function hintFor(code: ProviderErrorCode): string {
  return hints[code]
}

/** Makes a failure that is not temporary. */
export function makeFailure(code: ProviderErrorCode, reason: string): Failure {
  return { code, reason, hint: hintFor(code), isTemporary: false, retryAfterMs: null, data: {} }
}

/** Tells what an HTTP error of a provider means. Pure. */
export function classifyRefusal(
  { status, body, requestId, retryAfterMs }: Refusal,
  key: string | null,
): Failure {
  const saying = readSaying(body)
  const said = cleanText(saying.message, key)
  const tail = said === '' ? '' : `: ${said}`
  const failure = {
    retryAfterMs,
    data: {
      status,
      ...(requestId === null ? {} : { request_id: cleanText(requestId, key) }),
      ...(saying.code === '' ? {} : { provider_code: cleanText(saying.code, key) }),
    },
  }
  const make = (code: ProviderErrorCode, what: string, isTemporary: boolean): Failure => ({
    ...failure,
    code,
    reason: `${what} (${status})${tail}`,
    hint: hintFor(code),
    isTemporary,
  })
  const text = `${saying.code} ${saying.message}`
  if (status === 401 || status === 403) return make('provider_auth', 'refused the key', false)
  if (status === 407)
    return make('provider_auth', 'was not reached: the proxy wants a user name and password', false)
  if (status === 402 || (status === 429 && noCredit.test(text))) {
    return {
      ...make('provider_rate_limit', 'has no credit left for this key', false),
      hint: 'add credit at the provider, or choose another provider',
    }
  }
  if (status === 429) return make('provider_rate_limit', 'is limiting requests', true)
  if (status === 413 || ((status === 400 || status === 422) && contextTooLong.test(text))) {
    return make('provider_context_too_long', 'refused a conversation that is too long for the model', false)
  }
  if (status === 404) return make('provider_not_found', 'does not know this address or model', false)
  if (status === 408) return make('provider_timeout', 'waited too long for the request', true)
  if (status >= 500) return make('provider_unavailable', 'failed', status !== 501 && status !== 505)
  if (status < 400)
    return make('provider_bad_answer', 'answered with a redirect that cannot be followed', false)
  return make('provider_bad_request', 'refused the request', false)
}

/** Tells what an error that came inside an answer means: an object, or a bare text. Pure. */
export function classifyErrorEvent(error: unknown, key: string | null): Failure {
  const saying = readSayingOf(error)
  const status = Number(saying.code)
  if (Number.isInteger(status) && status >= 400 && status < 600) {
    const body = JSON.stringify({ error: { message: saying.message } })
    return classifyRefusal({ status, body, requestId: null, retryAfterMs: null }, key)
  }
  const text = `${saying.code} ${saying.message}`
  const [code, isTemporary]: readonly [ProviderErrorCode, boolean] = contextTooLong.test(text)
    ? ['provider_context_too_long', false]
    : noCredit.test(text)
      ? ['provider_rate_limit', false]
      : rateLimited.test(text)
        ? ['provider_rate_limit', true]
        : /invalid_api_key|authentication|unauthorized|permission/i.test(text)
          ? ['provider_auth', false]
          : /invalid_request|bad_request/i.test(text)
            ? ['provider_bad_request', false]
            : ['provider_unavailable', true]
  const said = cleanText(saying.message, key)
  return {
    code,
    reason: `sent an error in its answer${said === '' ? '' : `: ${said}`}`,
    hint: hintFor(code),
    isTemporary,
    retryAfterMs: null,
    data: saying.code === '' ? {} : { provider_code: cleanText(saying.code, key) },
  }
}

/** True for a refusal that names `stream_options`, which some servers do not know. */
export function refusesStreamOptions({ status, body }: Refusal): boolean {
  return (status === 400 || status === 422) && /stream_options|include_usage/.test(body)
}

function readSaying(body: string): Saying {
  const value = tryParseJson(body)
  if (value !== undefined) return readSayingOf(value)
  // A page of a gateway: its title says more than its markup.
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1]
  return { message: title ?? (/^\s*</.test(body) ? '' : body), code: '' }
}

function readSayingOf(value: unknown): Saying {
  const outer = tryParseFields(Array.isArray(value) ? value[0] : value)
  if (outer === null) return { message: readText(value), code: '' }
  const inner = tryParseFields(outer.error)
  if (inner !== null) return readSayingOf(inner)
  const says = ['message', 'detail', 'error', 'msg']
    .map((name) => outer[name])
    .find((one) => one !== undefined && one !== null)
  const code = [outer.code, outer.type, outer.status].find(
    (one) => typeof one === 'number' || readText(one) !== '',
  )
  return {
    message:
      says === undefined ? JSON.stringify(value) : typeof says === 'string' ? says : JSON.stringify(says),
    code: code === undefined ? '' : String(code),
  }
}
