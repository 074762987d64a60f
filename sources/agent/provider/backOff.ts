import type { Failure } from './errors.ts'

const firstWaitMs = 500
const longestBackOffMs = 8_000
/** No single wait is longer, also when the provider asks for more. */
const longestWaitMs = 60_000

/**
 * Decides how long to wait before the next request; null: there is none. `retries` counts those already made.
 * A provider that asks for a longer wait than all retries left could last is not asked again. Pure.
 */
export function planRetry(
  failure: Failure,
  { retries, maxRetries, random }: { retries: number; maxRetries: number; random: number },
): number | null {
  const left = maxRetries - retries
  if (!failure.isTemporary || left <= 0) return null
  if (failure.retryAfterMs !== null) {
    return failure.retryAfterMs > left * longestWaitMs ? null : Math.min(failure.retryAfterMs, longestWaitMs)
  }
  // Between half and the whole, so that many clients do not come back at the same moment.
  const backOff = Math.min(firstWaitMs * 2 ** retries, longestBackOffMs)
  return Math.round(backOff * (0.5 + random / 2))
}

/** Reads `Retry-After` (seconds or a date) and `retry-after-ms`; null when neither says anything. Pure. */
export function tryParseRetryAfter(headers: Headers, now: number): number | null {
  const milliseconds = readNumber(headers.get('retry-after-ms'))
  if (milliseconds !== null) return milliseconds
  const value = headers.get('retry-after')
  const seconds = readNumber(value)
  if (seconds !== null) return Math.ceil(seconds * 1000)
  const date = value === null ? Number.NaN : Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** A sentence for the user about a wait before the next request. */
export function describeRetry(
  failure: Failure,
  { host, waitMs, retry, maxRetries }: { host: string; waitMs: number; retry: number; maxRetries: number },
): string {
  const asked = failure.retryAfterMs === null ? '' : ', as it asked'
  return `provider '${host}' ${failure.reason}; trying again in ${formatSeconds(waitMs)}${asked} (retry ${retry} of ${maxRetries})`
}

function formatSeconds(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms / 1000)} s`
}

function readNumber(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null
}
