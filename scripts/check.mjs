// `npm run check`: format, lint, types, dead code, generated files. All of them run; any complaint fails.
import { generate } from './generate.mjs'
import { installPackages } from './install.mjs'
import { runTool } from './runTool.mjs'

installPackages()
const steps = [
  ['format and lint', () => runTool('biome', ['ci', '--error-on-warnings', '.'])],
  ['types', () => runTool('tsc', ['-b'])],
  ['dead code', () => runTool('knip', ['--no-progress', '--treat-config-hints-as-errors'])],
  ['generated files', async () => reportStale(await generate({ write: false }))],
]
const failed = []
for (const [name, run] of steps) if ((await run()) !== 0) failed.push(name)
process.stderr.write(failed.length === 0 ? 'check: ok\n' : `check failed: ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1

function reportStale(stale) {
  for (const path of stale)
    process.stderr.write(`out of date: ${path} (run \`npm run build\` and commit it)\n`)
  return stale.length
}
