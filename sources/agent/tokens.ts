import { estimateTokenCount } from 'tokenx'

/** What a provider adds around each message, and around each tool call. */
const TOKENS_PER_MESSAGE = 8
const TOKENS_PER_CALL = 12

/** A run this long without a blank is no prose: hashes, base64, minified code. */
const LONG_RUN = /\S{48,}/g

/**
 * Texts are looked at in pieces: a regular expression that walks a run of several megabytes exhausts its stack, and a
 * user may well pipe one in.
 */
const PIECE_LENGTH = 65_536

/**
 * An estimate of the tokens of a text, rather too high than too low. The estimator alone counts a long hash at a
 * seventh of its tokens, JSON at two thirds and blanks at nothing, hence the guards.
 */
export function estimateTokens(text: string): number {
  if (text === '') return 0
  let tokens = 0
  for (let at = 0; at < text.length; at += PIECE_LENGTH)
    tokens += estimatePiece(text.slice(at, at + PIECE_LENGTH))
  if (looksLikeJson(text)) tokens *= 1.5
  return Math.max(1, Math.ceil(tokens), Math.ceil(Buffer.byteLength(text) / 4))
}

function estimatePiece(text: string): number {
  let tokens = 0
  let rest = 0
  for (const run of text.matchAll(LONG_RUN)) {
    tokens += estimateTokenCount(text.slice(rest, run.index))
    tokens += Math.max(estimateTokenCount(run[0]), run[0].length / 2)
    rest = run.index + run[0].length
  }
  return tokens + estimateTokenCount(text.slice(rest))
}

/** The tokens of one message: its texts, and what stands around them. `texts` are those that are sent. */
export function estimateMessage(texts: {
  readonly content: string
  readonly reasoning?: string | undefined
  readonly calls?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly arguments: string }>
}): number {
  let tokens = TOKENS_PER_MESSAGE + estimateTokens(texts.content) + estimateTokens(texts.reasoning ?? '')
  for (const call of texts.calls ?? []) {
    // Arguments travel as JSON inside JSON, so each quote of theirs is escaped once more.
    tokens += TOKENS_PER_CALL + estimateTokens(call.id) + estimateTokens(call.name)
    tokens += Math.ceil(estimateTokens(call.arguments) * (looksLikeJson(call.arguments) ? 1 : 1.5))
  }
  return tokens
}

function looksLikeJson(text: string): boolean {
  const first = text.trimStart()[0]
  const last = text.trimEnd().at(-1)
  return (first === '{' && last === '}') || (first === '[' && last === ']')
}
