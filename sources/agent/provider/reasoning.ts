import { type Fields, readText, tryParseFields } from './fields.ts'

const names = ['reasoning_content', 'reasoning', 'thinking', 'thought'] as const

/** A piece of reasoning and the name under which it came. */
export interface ReasoningPiece {
  readonly field: string
  readonly text: string
}

/**
 * Finds the reasoning in a delta or message. Some servers send the same text under two names: the name already
 * in use wins, then the first that holds text. Structured details count only when there is no plain text, and
 * go back as `reasoning`, the plain field of the servers that send them.
 */
export function readReasoning(delta: Fields, fieldInUse: string | null): ReasoningPiece | null {
  for (const field of fieldInUse === null ? names : [fieldInUse, ...names]) {
    const text = readText(delta[field])
    if (text !== '') return { field, text }
  }
  const text = readDetails(delta.reasoning_details)
  return text === '' ? null : { field: 'reasoning', text }
}

function readDetails(details: unknown): string {
  if (!Array.isArray(details)) return ''
  return details
    .map((detail: unknown) => {
      const fields = tryParseFields(detail)
      return readText(fields?.text) || readText(fields?.summary)
    })
    .join('')
}
