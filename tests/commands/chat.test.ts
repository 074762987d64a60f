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
  const stdin = new PassThrough()
  const screen = collect()
  stdin.write('write a note about the discount\n/quit\n')
  const { exitCode } = await runHere(['chat', '--demo'], {
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
  const text = screen.text()
  expect(exitCode, text).toBe(0)
  const call = text.indexOf('✓ write NOTES.md')
  const answer = text.indexOf('I wrote `NOTES.md`')
  expect(call, text).toBeGreaterThan(-1)
  expect(answer, text).toBeGreaterThan(call)
})
