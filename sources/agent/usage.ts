import type { Usage } from '../conversation/message.ts'

/** Nothing is known. */
export const NO_USAGE: Usage = {
  input_tokens: null,
  output_tokens: null,
  reasoning_tokens: null,
  cached_tokens: null,
}

/** The sum of what is known; null where nothing is. */
export function addUsage(sum: Usage, more: Usage | null): Usage {
  if (more === null) return sum
  return {
    input_tokens: add(sum.input_tokens, more.input_tokens),
    output_tokens: add(sum.output_tokens, more.output_tokens),
    reasoning_tokens: add(sum.reasoning_tokens, more.reasoning_tokens),
    cached_tokens: add(sum.cached_tokens, more.cached_tokens),
  }
}

function add(left: number | null, right: number | null): number | null {
  return left === null ? right : left + (right ?? 0)
}
