// `npm start`: installs what is missing, builds, and starts the program on its embedded demo model.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildWhenStale } from './build.mjs'
import { installPackages, repository } from './install.mjs'

installPackages()
await buildWhenStale()
const isTerminal = process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY
const args = isTerminal ? ['chat', '--demo'] : ['demo']
// Ctrl-C belongs to the program; this one only waits for it.
process.on('SIGINT', () => {})
const { status } = spawnSync(
  process.execPath,
  [join(repository, 'dist', 'cass.cjs'), ...args, ...process.argv.slice(2)],
  {
    stdio: 'inherit',
  },
)
process.exitCode = status ?? 1
