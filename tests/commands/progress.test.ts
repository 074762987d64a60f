import { Chalk } from 'chalk'
import { expect, it } from 'vitest'
import { makePrinter } from '../../commands/terminal/printer.ts'
import { makeProgress } from '../../commands/terminal/progress.ts'
import type { TurnEvent } from '../../sources/agent/events.ts'
import { collect } from './_run.ts'

function show(events: ReadonlyArray<TurnEvent>, quiet = false) {
  const stdout = collect()
  const stderr = collect()
  const terminals = { stdout: false, stderr: true }
  const print = makePrinter({
    stdout: stdout.stream,
    stderr: stderr.stream,
    terminals,
    columns: 80,
    quiet,
    nul: false,
  })
  const progress = makeProgress(print, new Chalk({ level: 0 }))
  for (const event of events) progress(event)
  return { stdout: stdout.text(), stderr: stderr.text() }
}

const started: TurnEvent = {
  type: 'tool_call_started',
  id: 'c',
  name: 'edit',
  arguments: { path: 'a\u001b[2J.ts' },
}
const result = { type: 'tool_result', id: 'c', name: 'edit', message_id: 'm' } as const
const finished: TurnEvent = {
  ...{ type: 'turn_finished', chat_id: 'x', records: 5, stop_reason: 'stop' },
  usage: { input_tokens: null, output_tokens: null, reasoning_tokens: null, cached_tokens: null },
}

it('shows a call on one line with what it changed, which is told behind its result', () => {
  const changed: TurnEvent = { type: 'file_changed', path: 'a.ts', tool_call_id: 'c', added: 3, removed: 1 }
  const events = [started, { ...result, ok: true, content: 'applied' }, changed, finished]
  expect(show(events)).toEqual({ stdout: '', stderr: '✓ edit a.ts  +3 -1\n' })
})

it('shows why a call failed', () => {
  const events = [started, { ...result, ok: false, content: '\nthe text was not found\nmore' }, finished]
  expect(show(events).stderr).toBe('✗ edit a.ts  the text was not found\n')
})

it('names the chat, the model, the access mode and the instructions that were read', () => {
  const event: TurnEvent = {
    ...{
      type: 'session_started',
      chat_id: 'x',
      conversation: 'x',
      model: 'm\u0007',
      access_mode: 'read-only',
    },
    ...{ message_id: 'u', instructions: ['AGENTS.md'] },
  }
  expect(show([event]).stderr).toBe('x · m · read-only\ninstructions: AGENTS.md\n')
})

it('leaves only errors with --quiet', () => {
  const events: TurnEvent[] = [
    { type: 'status', text: 'waiting' },
    { type: 'notice', code: 'n', text: 'a notice', chat_id: null },
    { type: 'error', code: 'e', message: 'it broke', hint: 'mend it' },
  ]
  expect(show(events).stderr).toBe('waiting\na notice\nerror: it broke\nhint: mend it\n')
  expect(show(events, true).stderr).toBe('error: it broke\nhint: mend it\n')
})

it('shows neither the answer nor the reasoning', () => {
  const events: TurnEvent[] = [
    { type: 'assistant_chunk', text: 'secret answer' },
    { type: 'reasoning_chunk', text: 'thoughts' },
    { type: 'tool_output_chunk', id: 'c', name: 'shell', stream: 'stdout', content: 'output' },
  ]
  expect(show(events)).toEqual({ stdout: '', stderr: '' })
})
