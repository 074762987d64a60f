import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { collect, runHere } from './_run.ts'

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cass-chat-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('the line of a tool call stands above the text that the model wrote after it', async () => {
  const { exitCode, text } = await chat(['--demo'], ['write a note about the discount\n', '/quit\n'])
  expect(exitCode, text).toBe(0)
  const call = text.indexOf('✓ write NOTES.md')
  const answer = text.indexOf('I wrote `NOTES.md`')
  expect(call, text).toBeGreaterThan(-1)
  expect(answer, text).toBeGreaterThan(call)
})

test('a word that is no command is answered, and is no message', async () => {
  const { exitCode, text } = await chat(['--demo'], ['/nosuch thing\n', '/help\n', 'quit\n'])
  expect(exitCode, text).toBe(0)
  expect(text).toContain("unknown command '/nosuch'")
  expect(text).toContain('/quit    end the chat')
  expect(text).not.toContain('I am the demo model')
})

test.each(['/quit', '/exit', 'quit', ' exit '])('%s leaves', async (word) => {
  expect((await chat(['--demo'], [`${word}\n`])).exitCode).toBe(0)
})

test.each([
  ['pasted lines', '\u001b[200~/nosuch\nthing\u001b[201~\r'],
  ['a blank before it', ' /nosuch thing\n'],
  ['a path', '/etc/hosts is empty\n'],
])('a message may begin with a slash: %s', async (_, typed) => {
  const { text } = await chat(['--demo'], [typed, '/quit\n'])
  expect(text).toContain('I am the demo model')
  expect(text).not.toContain('unknown command')
})

test('model and access mode are said before the first message', async () => {
  const { text } = await chat(['--demo', '--readonly'], ['/quit\n'])
  expect(text.slice(0, text.indexOf('> '))).toMatch(/ · .*demo.* · read-only\n/)
})

test.each([
  ['a chat that is not there', ['--demo', '--resume', 'nosuch'], 'nosuch'],
  ['a branch that is not there', ['--demo', 'nosuch'], 'nosuch'],
  ['no current branch', ['--demo', '--continue'], 'no current branch'],
  ['no provider', [], 'cass setup'],
])('%s ends the chat before a prompt', async (_, args, named) => {
  const { exitCode, text } = await chat(args, [])
  expect({ exitCode, text }).toEqual({ exitCode: 1, text: expect.stringContaining(named) })
  expect(text).toContain('error: ')
  expect(text).not.toContain('> ')
})

async function chat(args: ReadonlyArray<string>, typed: ReadonlyArray<string>) {
  const stdin = new PassThrough()
  const screen = collect()
  for (const each of typed) stdin.write(each)
  const { exitCode } = await runHere(['chat', ...args], {
    openStdin: () => stdin,
    stdout: screen.stream,
    stderr: screen.stream,
    terminals: { stdin: true, stdout: true, stderr: true },
    env: { CASS_HOME: join(folder, 'home'), TMPDIR: folder, TERM: 'dumb', NO_COLOR: '1' },
    cwd: folder,
    home: folder,
    programFolder: dist,
    now: () => new Date(),
    pid: process.pid,
  })
  return { exitCode, text: screen.text() }
}
