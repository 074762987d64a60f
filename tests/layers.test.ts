import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { effectful } from './_effectful.ts'
import { findViolations } from './_layers.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))

describe('the layers of the program', () => {
  it('are kept by every file', () => {
    expect(findViolations(readSources(), effectful)).toEqual([])
  })

  const pure = { path: 'commands/x.ts', text: '' }
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ['sources/conversation/x.ts', "import { y } from '../agent/y.ts'", 'imports sources/agent/y.ts'],
    ['sources/conversation/x.ts', "import type { Y } from '../config/y.ts'", 'imports sources/config/y.ts'],
    ['sources/agent/x.ts', "import { y } from '../workspace/y.ts'", 'imports sources/workspace/y.ts'],
    ['sources/workspace/x.ts', "import { y } from '../edits/y.ts'", 'imports sources/edits/y.ts'],
    ['sources/agent/x.ts', "const y = await import('../session/y.ts')", 'imports sources/session/y.ts'],
    ['sources/files/x.ts', "export { y } from '../conversation/y.ts'", 'imports sources/conversation/y.ts'],
    ['sources/session/x.ts', "import { y } from '../../commands/y.ts'", 'imports commands/y.ts'],
    ['sources/session/x.ts', "import { y } from '../../tests/y.ts'", 'imports tests/y.ts'],
    [
      'commands/x.ts',
      "import { y } from '../sources/files/effectful.ts'",
      'imports sources/files/effectful.ts',
    ],
    ['commands/x.ts', "import { y } from '../fixtures/y.ts'", 'imports fixtures/y.ts'],
    ['sources/config/x.ts', "import chalk from 'chalk'", "imports 'chalk', which belongs to commands/"],
    ['commands/x.ts', "import OpenAI from 'openai'", "imports 'openai', which belongs to sources/"],
    [
      'commands/x.ts',
      "await import('@vscode/ripgrep')",
      "imports '@vscode/ripgrep', which belongs to sources/",
    ],
    [
      'sources/tools/x.ts',
      "import { readFileSync } from 'node:fs'",
      "uses 'node:fs' and is not listed as effectful",
    ],
    [
      'sources/tools/x.ts',
      "import { randomBytes } from 'node:crypto'",
      "uses 'node:crypto' and is not listed as effectful",
    ],
    ['sources/tools/x.ts', 'console.log(1)', 'prints'],
    ['sources/tools/x.ts', 'process.exit(1)', 'uses the process'],
    ['sources/tools/x.ts', 'const home = process.env.HOME', 'uses the process'],
    ['sources/tools/x.ts', 'const now = new Date()', 'reads the clock'],
    ['sources/tools/x.ts', 'Math.random()', 'uses chance'],
    ['sources/tools/index.ts', "export { y } from './y.ts'", 'is a barrel'],
  ]
  it.each(cases)('forbid %s: %s', (path, text, violation) => {
    const other = { path: 'sources/files/effectful.ts', text: '' }
    expect(findViolations([{ path, text }, other, pure], [other.path])).toEqual([`${path} ${violation}`])
  })

  it.each([
    ['sources/tools/x.ts', "import { y } from '../edits/y.ts'\nimport { createHash } from 'node:crypto'"],
    ['sources/edits/x.ts', "import path from 'node:path'\nimport { CassError } from '../errors.ts'"],
    ['sources/agent/x.ts', "import type { Y } from '../workspace/y.ts'"],
    ['sources/agent/x.ts', "// reads process.env nowhere\nimport type { Readable } from 'node:stream'"],
    ['commands/x.ts', "import { y } from '../sources/session/y.ts'\nimport { readFileSync } from 'node:fs'"],
  ])('allow %s: %s', (path, text) => {
    const all = [{ path, text }, { path: 'sources/y.ts', text: '' }, pure]
    expect(findViolations(all, [])).toEqual([])
  })

  it('cannot be checked on nothing', () => {
    expect(() => findViolations([], [])).toThrow('there is nothing to check')
  })

  it('are not kept by a list that names a file which is gone', () => {
    expect(findViolations([{ path: 'sources/x.ts', text: '' }, pure], ['sources/gone.ts'])).toEqual([
      'sources/gone.ts is listed as effectful and does not exist',
    ])
  })
})

describe('the compiler', () => {
  it('refuses an import from sources/ to commands/', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cass-layers-'))
    try {
      for (const path of [
        'tsconfig.json',
        'sources/tsconfig.json',
        'commands/tsconfig.json',
        'tests/tsconfig.json',
      ]) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        cpSync(join(repository, path), join(folder, path))
      }
      symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
      writeFileSync(join(folder, 'commands', 'y.ts'), 'export const y = 1\n')
      writeFileSync(
        join(folder, 'sources', 'x.ts'),
        "import { y } from '../commands/y.ts'\nexport const x = y\n",
      )
      const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc')
      const { status, stdout } = spawnSync(process.execPath, [tsc, '-b', 'sources'], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect(status).not.toBe(0)
      expect(stdout).toMatch(/TS6059|TS6307/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

function readSources() {
  return ['sources', 'commands'].flatMap((top) =>
    readdirSync(join(repository, top), { recursive: true, encoding: 'utf8' })
      .map((name) => `${top}/${name.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') })),
  )
}
