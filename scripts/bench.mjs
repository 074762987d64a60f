// `npm run bench [FILTER]`: runs tests/bench/*.bench.mjs one after the other and prints one table.
//
// A benchmark is a program. Each line of its stdout is one measurement, as JSON:
// {"what": text, "measured": number, "unit": text, "target": number|null}; at most `target` is good.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildWhenStale } from './build.mjs'
import { installPackages, repository } from './install.mjs'

installPackages()
await buildWhenStale()
const folder = join(repository, 'tests', 'bench')
const files = existsSync(folder) ? readdirSync(folder).filter(isWanted).sort() : []
if (files.length === 0) throw new Error(`no benchmark matches in '${folder}'`)
const rows = files.flatMap(runBenchmark)
const header = ['benchmark', 'what', 'measured', 'target', '']
const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)))
for (const row of [header, ...rows]) {
  process.stdout.write(
    `${row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd()}\n`,
  )
}
if (rows.some((row) => row[4] === 'FAILED')) process.exitCode = 1

function isWanted(name) {
  const filter = process.argv[2] ?? ''
  return name.endsWith('.bench.mjs') && name.includes(filter)
}

function runBenchmark(file) {
  process.stderr.write(`${file}\n`)
  const { NODE_EXTRA_CA_CERTS, NODE_OPTIONS, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, [join(folder, file)], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const name = file.replace('.bench.mjs', '')
  const measurements = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => formatRow(name, JSON.parse(line)))
  return status === 0 ? measurements : [...measurements, [name, `exit code ${status}`, '-', '-', 'FAILED']]
}

function formatRow(name, { what, measured, unit, target }) {
  const verdict = target === null || target === undefined ? '' : measured <= target ? 'ok' : 'over'
  return [
    name,
    what,
    formatNumber(measured, unit),
    target == null ? '-' : formatNumber(target, unit),
    verdict,
  ]
}

function formatNumber(value, unit) {
  return `${Number.isInteger(value) ? value : value.toFixed(2)} ${unit}`
}
