import type { Usage } from '../../conversation/message.ts'
import { type Fields, tryParseFields } from './fields.ts'

/** Reads the token counts of a chunk, under the names that providers use; null when it has none. */
export function tryParseUsage(chunk: Fields): Usage | null {
  const usage = tryParseFields(chunk.usage) ?? tryParseFields(tryParseFields(chunk.x_groq)?.usage)
  if (usage === null) return null
  const prompt = tryParseFields(usage.prompt_tokens_details)
  const completion = tryParseFields(usage.completion_tokens_details)
  return {
    input_tokens: readCount(usage.prompt_tokens ?? usage.input_tokens),
    output_tokens: readCount(usage.completion_tokens ?? usage.output_tokens),
    reasoning_tokens: readCount(completion?.reasoning_tokens ?? usage.reasoning_tokens),
    cached_tokens: readCount(prompt?.cached_tokens ?? usage.prompt_cache_hit_tokens),
  }
}

function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
