import { spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeSandbox, program, type Sandbox } from '../_cass.ts'

/** Writing to it fails as on a full disk. */
const fullDevice = '/dev/full'

describe.skipIf(!existsSync(fullDevice))('a stdout that cannot be written', () => {
  let sandbox: Sandbox
  beforeAll(() => {
    sandbox = makeSandbox()
  })
  afterAll(() => sandbox.remove())

  test.for([['--help'], ['--version'], ['check'], ['run', '--demo', '--json', 'hi']])(
    'is an error of `cass %s`, without a stack',
    async (argv) => {
      const { exitCode, stderr } = await runInto(fullDevice, argv, sandbox)
      expect({ exitCode, error: stderr.match(/^error: .*$/m)?.[0] }).toEqual({
        exitCode: 1,
        error: 'error: cannot write to stdout: ENOSPC',
      })
      expect(stderr).not.toMatch(/^\s+at /m)
    },
  )
})

function runInto(
  file: string,
  argv: ReadonlyArray<string>,
  { workspace, env }: Sandbox,
): Promise<{ readonly exitCode: number | null; readonly stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...argv], {
      cwd: workspace,
      env,
      stdio: ['ignore', openSync(file, 'w'), 'pipe'],
    })
    let stderr = ''
    child.stderr?.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, stderr }))
  })
}
