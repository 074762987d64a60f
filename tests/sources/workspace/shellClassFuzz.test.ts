import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isReadOnlyCommand } from '../../../sources/workspace/shellClass.ts'

const token = fc.constantFrom(
  ...[
    'ls',
    'echo',
    'cat',
    'rm a',
    'touch x',
    ';',
    '&&',
    '||',
    '|',
    '"',
    "'",
    '\\',
    '$(',
    ')',
    '`',
    '>',
    '<',
    '>>',
  ],
  ...[
    ' ',
    ' ',
    ' ',
    '\n',
    '#',
    '2>&1',
    '>/dev/null',
    '{',
    '}',
    '-*',
    '*',
    '$',
    'a',
    'x',
    '&',
    '(',
    '!',
    'A=b',
  ],
  ...[
    'find .',
    '-delete',
    'sort',
    '-o',
    'env',
    '<<',
    '\t',
    '1',
    '"$(',
    '")',
    '[',
    ']',
    ':',
    'cd',
    '..',
    'tee x',
  ],
)

it('changes no file with any command that was proven to only read, when sh really runs it', () => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'cass-fuzz-'))
  const folder = path.join(root, 'w')
  const reset = () => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    // Names that a wildcard may turn into options.
    for (const name of ['a', '-o', '-delete']) writeFileSync(path.join(folder, name), name)
  }
  let ran = 0
  const commands = fc.tuple(fc.array(token, { minLength: 1, maxLength: 8 }), fc.boolean())
  try {
    fc.assert(
      fc.property(commands, ([tokens, spaced]) => {
        const command = tokens.join(spaced ? ' ' : '')
        if (!isReadOnlyCommand(command, 'sh')) return
        ran += 1
        reset()
        spawnSync('/bin/sh', ['-c', command], { cwd: folder, stdio: 'ignore', timeout: 5000 })
        expect([command, readdirSync(folder).sort()]).toEqual([command, ['-delete', '-o', 'a']])
        expect(readFileSync(path.join(folder, 'a'), 'utf8')).toBe('a')
      }),
      { numRuns: 2500 },
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  expect(ran).toBeGreaterThan(20)
}, 60_000)
