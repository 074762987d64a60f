import { createHash } from 'node:crypto'
import { stringifyJson } from './json.ts'
import type { Message } from './message.ts'

/** The digest of a chain without messages: the parent of every root. */
export const ROOT_DIGEST = ''

/** The digest of a chain that ends with `message`, from the digest of the chain before it. */
export function chainDigest(parent: string, message: Message): string {
  return createHash('sha256')
    .update(`${parent}\0${identityJson(message)}`)
    .digest('hex')
}

/**
 * What makes a message the same message, as canonical JSON: who says what. Ids of the log, times, usage, notices
 * and the result's `ok` are not part of it. Keys come in this order; empty ones are left out.
 */
function identityJson(message: Message): string {
  return stringifyJson({
    content: message.content,
    name: message.name || undefined,
    reasoning_content: message.reasoning_content || undefined,
    role: message.role,
    tool_call_id: message.tool_call_id || undefined,
    tool_calls: message.tool_calls?.length
      ? message.tool_calls.map(({ arguments: text, id, name }) => ({ arguments: text, id, name }))
      : undefined,
  })
}
