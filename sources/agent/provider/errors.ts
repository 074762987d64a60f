import { CassError } from '../../errors.ts'
import type { PartialAnswer } from '../model.ts'

/** What went wrong with a provider; docs/providers.md says what to do about each. */
export type ProviderErrorCode =
  | 'provider_auth'
  | 'provider_bad_answer'
  | 'provider_bad_request'
  | 'provider_context_too_long'
  | 'provider_cut_stream'
  | 'provider_not_found'
  | 'provider_rate_limit'
  | 'provider_refused_connection'
  | 'provider_timeout'
  | 'provider_unavailable'

export interface ProviderErrorOptions {
  readonly hint: string
  /** Facts for programs: `host`, `status`, `request_id`, `attempts`. Never a key. */
  readonly data: Readonly<Record<string, unknown>>
  /** What had been received; null when nothing was. */
  readonly partial: PartialAnswer | null
}

/**
 * A model call that failed. It has no `cause`: errors of the network libraries may hold request headers or an
 * unredacted body, so what they say is put into the message, cleaned.
 */
export class ProviderError extends CassError {
  readonly providerCode: ProviderErrorCode
  readonly partial: PartialAnswer | null

  constructor(code: ProviderErrorCode, message: string, { hint, data, partial }: ProviderErrorOptions) {
    super(code, message, { hint, data })
    this.name = 'ProviderError'
    this.providerCode = code
    this.partial = partial
  }
}

/** Why one attempt failed, before it is decided whether there will be another. */
export interface Failure {
  readonly code: ProviderErrorCode
  /** Without the provider's name, which `makeProviderError` puts first. Already cleaned. */
  readonly reason: string
  readonly hint: string
  /** True when the same request may succeed a little later. */
  readonly isTemporary: boolean
  /** How long the provider asked to wait; null when it did not. */
  readonly retryAfterMs: number | null
  readonly data: Readonly<Record<string, unknown>>
}

/** Makes the error that ends a model call. `attempts` counts the requests that were sent. */
export function makeProviderError(
  failure: Failure,
  { host, attempts, partial }: { host: string; attempts: number; partial: PartialAnswer | null },
): ProviderError {
  const tried = attempts > 1 ? ` (tried ${attempts} times)` : ''
  return new ProviderError(failure.code, `provider '${host}' ${failure.reason}${tried}`, {
    hint: failure.hint,
    data: { host, attempts, ...failure.data },
    partial,
  })
}
