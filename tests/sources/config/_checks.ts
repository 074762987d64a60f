import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type CheckReport, type CheckRequest, checkSetup } from '../../../sources/config/check.ts'

/** A folder for PATH with programs that are small scripts. */
export function makePrograms(base: string, name: string, programs: Readonly<Record<string, string>>): string {
  const folder = path.join(base, name)
  mkdirSync(folder)
  for (const [program, script] of Object.entries(programs)) {
    writeFileSync(path.join(folder, program), script)
    chmodSync(path.join(folder, program), 0o755)
  }
  return folder
}

/** Runs `checkSetup` as on a machine that has git and no `cass` on PATH. */
export function check(root: string, changes: Partial<CheckRequest> = {}): Promise<CheckReport> {
  const base = path.dirname(root)
  const bin = makePrograms(base, 'bin', { git: '#!/bin/sh\necho git version 2.50.1\n' })
  const { env, platform, ...rest } = changes
  return checkSetup({
    root,
    cwd: base,
    workspace: base,
    overrides: {},
    env: { PATH: bin, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    platform: {
      os: 'linux',
      release: '6.1',
      arch: 'x64',
      node: '20.20.2',
      isInteractive: true,
      home: base,
      program: null,
      ...platform,
    },
    probes: { listModels: null, limitMs: 1000 },
    extraFindings: [],
    ...rest,
  })
}

/** One line for each finding. */
export function linesOf({ findings }: CheckReport): ReadonlyArray<string> {
  return findings.map(({ severity, code, message }) => `${severity} ${code} ${message}`)
}
