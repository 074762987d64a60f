import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeSandbox, type Outcome, type Sandbox } from '../_cass.ts'

let sandbox: Sandbox
let outcome: Outcome
beforeAll(async () => {
  sandbox = makeSandbox()
  const tmp = join(sandbox.folder, 'tmp')
  mkdirSync(tmp)
  outcome = await sandbox.run(['demo'], { env: { TMPDIR: tmp } })
})
afterAll(() => sandbox.remove())

it('shows each step with the command that a user would type', () => {
  expect({ ...outcome, stdout: '' }).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  const commands = outcome.stdout.split('\n').filter((line) => line.startsWith('$ '))
  const ids = /\d{4}-\d\d-\d\d-\d{6}-[\w-]{4}/g
  expect(commands.map((line) => line.replace(ids, 'ID'))).toEqual([
    '$ cass run --demo --approve shell "fix the failing test"',
    '$ cass checkpoints',
    expect.stringMatching(/^\$ cass show ID:\d+:tool_call:\S+ --diff$/),
    '$ cass run --demo --continue "write a note about the discount"',
    '$ cass branch @~1 --name retry --switch',
    '$ cass run --demo --branch retry --approve shell "run the tests"',
    '$ cass branches',
    '$ cass log --graph',
    '$ ls $CASS_HOME/conversations',
    expect.stringMatching(/^\$ head -n 4 .*ID\.jsonl \| cut -c 1-100$/),
  ])
})

it('really edits and tests the sample project, and shows the diff of the edit', () => {
  expect(outcome.stdout).toContain('✓ edit src/basket.js  +1 -1')
  expect(outcome.stdout).toContain('✓ shell node --test')
  expect(outcome.stdout).toContain('All tests pass.')
  expect(outcome.stdout).toMatch(/^-.*return pieces > BULK_PIECES \?/m)
  expect(outcome.stdout).toMatch(/^\+.*return pieces >= BULK_PIECES \?/m)
})

it('says that it is a demo, and how to set up a real model', () => {
  expect(outcome.stdout).toContain('I am the demo model')
  expect(outcome.stdout).toContain('cass setup')
})

it('touches neither the folder it was called in nor the home of cass', () => {
  expect(readdirSync(sandbox.workspace)).toEqual([])
  expect(readdirSync(sandbox.home)).toEqual([])
  expect(existsSync(sandbox.cassHome)).toBe(false)
})
