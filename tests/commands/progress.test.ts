import { Chalk } from 'chalk'
import { describe, expect, it } from 'vitest'
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

describe('a shell command', () => {
  const call: TurnEvent = { ...started, name: 'shell', arguments: { command: 'npm test' } }
  const end = (content: string, ok = true): TurnEvent => ({ ...result, name: 'shell', ok, content })

  it.each([
    ['that did well', 'stdout:\nfine\nexit code: 0', '✓ shell npm test\n'],
    [
      'that failed',
      'stdout:\none\n\nstderr:\ntwo\nexit code: 1',
      '! shell npm test  exit 1\n    one\n    two\n',
    ],
    ['that was killed', '(no output)\nexit code: -1\nended by SIGSEGV', '! shell npm test  exit -1\n'],
    ['that prints such a line itself', 'stdout:\nexit code: 1\na\nb\nexit code: 0', '✓ shell npm test\n'],
  ])('%s shows so', (_, content, shown) => {
    expect(show([call, end(content), finished]).stderr).toBe(shown)
  })

  it('that failed shows its last lines, without what a terminal would obey', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}\u001b[2J`)
    const { stderr } = show([call, end(`stdout:\n${lines.join('\n')}\nexit code: 2`), finished])
    expect(stderr.split('\n').slice(0, 2)).toEqual(['! shell npm test  exit 2', '    line 34'])
    expect(stderr).not.toContain('\u001b')
  })

  it('that ran out of time shows its reason and its last lines', () => {
    const content = 'command timed out after 3s\nstdout:\nwaiting\nexit code: -1'
    expect(show([call, end(content, false), finished]).stderr).toBe(
      '✗ shell npm test  command timed out after 3s\n    waiting\n',
    )
  })

  it('that nobody could approve says how to approve it, and blames no user', () => {
    const content = 'this call needs approval and nobody can give it here'
    const shown = '✗ shell npm test  needs approval: pass --approve shell\n'
    expect(show([call, end(content, false), finished]).stderr).toBe(shown)
  })
})

it.each([
  ['grep', { query: 'a "b"' }, 'grep "a \\"b\\""'],
  ['grep', { query: 'x', paths: ['.'] }, 'grep "x"'],
  ['grep', { query: 'x', paths: ['src', 'lib', 'a'] }, 'grep "x" in src and 2 more'],
  ['ls', {}, 'ls .'],
  ['ls', { path: 'src' }, 'ls src'],
  ['read', { files: [{ path: 'a' }, { path: 'b' }] }, 'read a and 1 more'],
])('says what %s %j is about', (name, callArguments, title) => {
  const call: TurnEvent = { type: 'tool_call_started', id: 'c', name, arguments: callArguments }
  const end: TurnEvent = { ...result, name, ok: true, content: '' }
  expect(show([call, end, finished]).stderr).toBe(`✓ ${title}\n`)
})
