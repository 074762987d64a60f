import { expect } from 'vitest'
import { type Event, parseEvents } from './_world.ts'

/** The keys of each event as the contract lists them; `instructions` is an addition. */
const keys: Readonly<Record<string, ReadonlyArray<string>>> = {
  session_started: ['chat_id', 'conversation', 'model', 'access_mode', 'message_id', 'instructions'],
  assistant_chunk: ['text'],
  reasoning_chunk: ['text'],
  tool_call_started: ['id', 'name', 'arguments'],
  tool_output_chunk: ['id', 'name', 'stream', 'content'],
  tool_result: ['id', 'name', 'ok', 'content', 'message_id'],
  file_changed: ['path', 'tool_call_id', 'added', 'removed'],
  approval_requested: ['request_id', 'tool_call_id', 'name', 'arguments', 'reason'],
  approval_resolved: ['request_id', 'approved'],
  status: ['text'],
  notice: ['code', 'text', 'chat_id'],
  error: ['code', 'message', 'hint'],
  turn_finished: ['chat_id', 'records', 'stop_reason', 'usage'],
}

/** The events of a whole turn, after a look at their keys and their order. */
export function checkedEvents(stdout: string): Event[] {
  const events = parseEvents(stdout)
  for (const { type, ...rest } of events) {
    expect(keys, `unknown event '${type}'`).toHaveProperty(type)
    expect({ type, keys: Object.keys(rest).sort() }).toEqual({ type, keys: keys[type]?.toSorted() })
  }
  expect(events.at(0)?.type).toBe('session_started')
  expect(events.at(-1)?.type).toBe('turn_finished')
  expect(Object.keys(events.at(-1)?.usage).sort()).toEqual([
    'cached_tokens',
    'input_tokens',
    'output_tokens',
    'reasoning_tokens',
  ])
  checkCalls(events)
  return events
}

/**
 * Each call starts once and has one result behind it. Its output and the question about it stand between the two, the
 * files it changed behind its result.
 */
function checkCalls(events: ReadonlyArray<Event>): void {
  const open = new Set<string>()
  const answered = new Set<string>()
  const requests = new Set<string>()
  for (const event of events) {
    if (event.type === 'tool_call_started') {
      expect(open).not.toContain(event.id)
      open.add(event.id)
    }
    if (event.type === 'tool_output_chunk') expect(open).toContain(event.id)
    if (event.type === 'file_changed') expect(answered).toContain(event.tool_call_id)
    if (event.type === 'approval_requested') {
      expect(open).toContain(event.tool_call_id)
      requests.add(event.request_id)
    }
    if (event.type === 'approval_resolved') expect(requests.delete(event.request_id)).toBe(true)
    if (event.type === 'tool_result') {
      // A call that a cancel came before was never started, and has a result all the same.
      if (!open.delete(event.id)) expect(event.ok).toBe(false)
      answered.add(event.id)
    }
  }
  expect([...open]).toEqual([])
  expect([...requests]).toEqual([])
}
