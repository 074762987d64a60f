import { execFile } from 'node:child_process'
import { type Finding, okFinding } from './finding.ts'
import type { Environment } from './key.ts'

const limitMs = 5_000

/** Asks for git's version; git is useful, but not needed. */
export async function checkGit({
  env,
  cwd,
}: {
  readonly env: Environment
  readonly cwd: string
}): Promise<Finding> {
  const version = await gitVersion(env, cwd)
  if (version !== null) return okFinding('git_version', 'git', `git: ${version}`)
  return {
    severity: 'warning',
    code: 'git_missing',
    subject: 'git',
    message: 'git: not found on PATH',
    hint: 'install git; worktrees need it',
  }
}

/** Null: git cannot be started, or says nothing that looks like a version. */
function gitVersion(env: Environment, cwd: string): Promise<string | null> {
  return new Promise((resolve) => {
    try {
      execFile('git', ['--version'], { env, cwd, timeout: limitMs, windowsHide: true }, (error, stdout) => {
        resolve(error === null ? (/^git version (\S+)/.exec(stdout)?.[1] ?? null) : null)
      })
    } catch {
      // A folder that is gone, or a variable that no process can be given: git is as good as missing.
      resolve(null)
    }
  })
}
