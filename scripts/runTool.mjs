// Runs a program that came with the packages, without npx (which may ask, and costs half a second).
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository } from './install.mjs'

const packages = { tsc: 'typescript', biome: '@biomejs/biome', knip: 'knip', vitest: 'vitest' }

/** Gives the exit code; 1 when the program was ended by a signal. */
export function runTool(name, args, { env = process.env } = {}) {
  const manifest = join(repository, 'node_modules', packages[name], 'package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
  const program = join(dirname(manifest), typeof bin === 'string' ? bin : bin[name])
  return (
    spawnSync(process.execPath, [program, ...args], { cwd: repository, stdio: 'inherit', env }).status ?? 1
  )
}
