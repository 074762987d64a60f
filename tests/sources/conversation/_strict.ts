import type { RequestMessage } from '../../../sources/conversation/request.ts'

/**
 * The strictest provider there could be, as a small machine of its own: returns what it objects to, or null.
 * It knows only the wire, not how requests are built.
 */
export function objectionTo(request: ReadonlyArray<RequestMessage>): string | null {
  if (request[0]?.role !== 'system') return 'the first message is not the system message'
  let expected: ReadonlyArray<'user' | 'assistant' | 'tool'> = ['user']
  let open: string[] = []
  for (const [at, message] of request.slice(1).entries()) {
    const fault = faultOf(message)
    if (fault !== null) return `message ${at + 1}: ${fault}`
    if (message.role === 'system') return `message ${at + 1}: a second system message`
    if (!expected.includes(message.role)) return `message ${at + 1}: ${message.role} instead of ${expected}`
    if (message.role === 'user') expected = ['assistant']
    if (message.role === 'assistant') {
      open = (message.tool_calls ?? []).map(({ id }) => id)
      expected = open.length > 0 ? ['tool'] : ['user']
    }
    if (message.role === 'tool') {
      if (open.shift() !== message.tool_call_id) return `message ${at + 1}: answers out of order`
      expected = open.length > 0 ? ['tool'] : ['assistant']
    }
  }
  if (open.length > 0) return `calls without an answer: ${open}`
  const last = request.at(-1)?.role
  return last === 'user' || last === 'tool' ? null : `nothing to answer behind a message of ${last}`
}

function faultOf(message: RequestMessage): string | null {
  // Serde and others refuse the escapes that `JSON.stringify` writes for lone surrogates.
  if (!isWellFormed(JSON.stringify(message))) return 'lone surrogates'
  if (message.role !== 'assistant') {
    return message.role !== 'system' && message.content.trim() === '' ? 'no content' : null
  }
  const { content, reasoning, tool_calls } = message
  if (content !== null && content.trim() === '') return 'blank content'
  if (content === null && tool_calls === undefined) return 'neither text nor calls'
  if (tool_calls?.length === 0) return 'an empty list of calls'
  if (reasoning !== undefined) {
    if (reasoning.text.trim() === '') return 'blank reasoning'
    if (['role', 'content', 'tool_calls'].includes(reasoning.field))
      return `reasoning under ${reasoning.field}`
  }
  const ids = new Set<string>()
  for (const { id, name, arguments: text } of tool_calls ?? []) {
    if (id.trim() === '') return 'an empty call id'
    if (ids.has(id)) return `call id ${id} twice`
    ids.add(id)
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return `function name ${name}`
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'arguments are no object'
    if (!isWellFormed(JSON.stringify(value))) return 'lone surrogates in arguments'
  }
  return null
}

function isWellFormed(json: string): boolean {
  return !/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(json)
}
