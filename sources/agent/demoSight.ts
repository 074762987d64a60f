import { isJsonObject, tryParseJson } from '../conversation/json.ts'
import type { ModelRequest } from './model.ts'
import { parseReadSections } from './readSections.ts'

/** One tool call of the current turn and what came of it. */
interface SeenCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly result: string
}

/** What the demo model knows: the request of the user, and what its own calls have shown since. */
export interface Sight {
  readonly asked: string
  /** Number of the turn and of the answer in it, counted from what the request shows. */
  readonly turn: number
  readonly step: number
  readonly tools: ReadonlySet<string>
  readonly calls: ReadonlyArray<SeenCall>
}

/** Messages of the program between those of the user. */
const NOTE = '[note from cass'

export function lookAtRequest({ messages, tools }: ModelRequest): Sight {
  const isAsked = (message: ModelRequest['messages'][number]) =>
    message.role === 'user' && !message.content.startsWith(NOTE)
  const last = messages.findLastIndex(isAsked)
  const since = messages.slice(last + 1)
  const results = new Map(
    since.flatMap((message) => (message.role === 'tool' ? [[message.tool_call_id, message.content]] : [])),
  )
  const calls = since.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []))
  return {
    asked: messages[last]?.content ?? '',
    turn: messages.filter(isAsked).length,
    step: since.filter(({ role }) => role === 'assistant').length,
    tools: new Set(tools.map(({ name }) => name)),
    calls: calls.map((call) => {
      const input = tryParseJson(call.arguments)
      return {
        name: call.name,
        input: isJsonObject(input) ? input : {},
        result: results.get(call.id) ?? '',
      }
    }),
  }
}

/** The names in a listing of `ls`, folders with `/`; null when that folder was not listed. */
export function listing({ calls }: Sight, path: string): ReadonlyArray<string> | null {
  const call = calls.find(({ name, input }) => name === 'ls' && input.path === path)
  if (call === undefined) return null
  return [...call.result.matchAll(/^ {2}(\S.*?) {2,}\S.*$/gm)].map((line) => line[1] ?? '')
}

/** The files that were read, by the end of their path. */
export function readFiles({ calls }: Sight): ReadonlyArray<{ readonly path: string; readonly text: string }> {
  const reads = calls.filter(({ name }) => name === 'read')
  return reads
    .flatMap(({ result }) => parseReadSections(result))
    .map(({ path, text }) => ({
      path,
      text: [...text.matchAll(/^ *\d+ \| (.*)$/gm)].map((line) => line[1] ?? '').join('\n'),
    }))
}
