import { cleanText } from './cleanText.ts'
import type { Failure, ProviderErrorCode } from './errors.ts'
import { hintFor } from './refusal.ts'

type Row = readonly [code: ProviderErrorCode, reason: string, isTemporary: boolean]

const wrongName: Row = ['provider_refused_connection', 'cannot be reached: its host name is not known', false]
const unreachable: Row = ['provider_refused_connection', 'cannot be reached: there is no way to it', false]
const badCertificate: Row = [
  'provider_refused_connection',
  'has a TLS certificate that is not trusted',
  false,
]
const noTls: Row = [
  'provider_refused_connection',
  "does not speak TLS at this address: write 'http://'",
  false,
]
const reset: Row = ['provider_cut_stream', 'closed the connection', true]
const slow: Row = ['provider_timeout', 'did not accept a connection in time', false]

const rows: Readonly<Record<string, Row>> = {
  ECONNREFUSED: ['provider_refused_connection', 'refused the connection: nothing listens there', false],
  ENOTFOUND: wrongName,
  EAI_AGAIN: ['provider_refused_connection', 'cannot be reached: its host name could not be looked up', true],
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: reset,
  EPIPE: reset,
  UND_ERR_SOCKET: reset,
  UND_ERR_CONNECT_TIMEOUT: slow,
  ETIMEDOUT: slow,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  EPROTO: noTls,
  DEPTH_ZERO_SELF_SIGNED_CERT: badCertificate,
  SELF_SIGNED_CERT_IN_CHAIN: badCertificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: badCertificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: badCertificate,
  CERT_HAS_EXPIRED: ['provider_refused_connection', 'has a TLS certificate that has expired', false],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'provider_refused_connection',
    'has a TLS certificate of another host',
    false,
  ],
}

interface Cause {
  readonly code: string
  readonly message: string
}

/** Tells what an error of the connection means; the real reason is some causes deep. Pure. */
export function classifyConnectionError(error: unknown, key: string | null): Failure {
  const causes = listCauses(error)
  const known = causes.find((cause) => Object.hasOwn(rows, cause.code))
  const deepest = causes.findLast((cause) => cause.message !== '') ?? { code: '', message: String(error) }
  const said = cleanText(deepest.message, key)
  const row = known === undefined ? guess(deepest) : rows[known.code]
  const [code, reason, isTemporary] = row ?? guess(deepest)
  const detail = known?.code ?? deepest.code
  return {
    code,
    reason: `${reason} (${[cleanText(detail, key), said].filter((part) => part !== '').join(': ')})`,
    hint: hintFor(code),
    isTemporary,
    retryAfterMs: null,
    data: detail === '' ? {} : { cause: cleanText(detail, key) },
  }
}

function guess({ code, message }: Cause): Row {
  if (code.startsWith('HPE_') || /does not match the HTTP/i.test(message))
    return ['provider_bad_answer', 'does not speak HTTP', false]
  if (/terminated|other side closed|socket hang up/i.test(message)) return reset
  if (/^ERR_SSL|^ERR_TLS|CERT/.test(code)) return badCertificate
  if (/proxy/i.test(message))
    return ['provider_refused_connection', 'cannot be reached through the proxy', false]
  return ['provider_refused_connection', 'cannot be reached', false]
}

/** The error, its causes, and of several errors in one (one for each address tried) the first. */
function listCauses(error: unknown): ReadonlyArray<Cause> {
  const causes: Array<Cause> = []
  let current = error
  for (let depth = 0; depth < 6 && current instanceof Error; depth++) {
    const code = 'code' in current && typeof current.code === 'string' ? current.code : ''
    causes.push({ code, message: current.message })
    current =
      current instanceof AggregateError && current.errors.length > 0 ? current.errors[0] : current.cause
  }
  return causes
}
