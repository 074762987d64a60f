// Installs the packages of package-lock.json when node_modules does not hold exactly them.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The top folder of the repository. */
export const repository = fileURLToPath(new URL('..', import.meta.url))

/** Runs `npm ci` unless everything is there already. Throws when npm fails. */
export function installPackages() {
  if (isInstalled()) return
  process.stderr.write('installing packages (npm ci)\n')
  // npm's own output goes to stderr, so that stdout stays the data of whoever called us.
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: repository,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm ci ended with exit code ${status}`)
}

/**
 * Compares the lock with the list that npm keeps inside node_modules. Times would not do: a checkout touches the
 * lock without changing it. Only packages for other platforms may be missing.
 */
function isInstalled() {
  const wanted = readPackages(join(repository, 'package-lock.json'))
  const present = readPackages(join(repository, 'node_modules', '.package-lock.json'))
  if (wanted === null || present === null) return false
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    const found = present[path]
    return path === '' || (found === undefined ? optional === true : found.version === version)
  })
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? null
  } catch (error) {
    // Missing or broken: both mean that npm has to do its work.
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}
