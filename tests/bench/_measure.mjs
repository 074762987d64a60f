// What benchmarks share: running the built program, and medians over runs that alternate with `node -e 0`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('../..', import.meta.url))
export const program = join(repository, 'dist', 'cass.cjs')

/** Calls `work` with a folder that is removed afterwards. */
export async function withFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'cass-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs `node ARGS` once: wall time in milliseconds and the largest resident size in MB. */
export function runNode(args, { cwd, env }) {
  const probe = join(probeFolder(), 'probe.cjs')
  const started = performance.now()
  const { status, stderr } = spawnSync(process.execPath, ['--require', probe, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 512 * 1024 * 1024,
  })
  const ms = performance.now() - started
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`)
  const rss = Number(/maxrss=(\d+)/.exec(stderr)?.[1]) / 1024
  return { ms, rss }
}

/** Medians of several runs of each of some command lines, taken in turns so that noise hits all alike. */
export function medians(lines, { runs, cwd, env }) {
  const taken = Object.fromEntries(Object.keys(lines).map((name) => [name, []]))
  for (let run = 0; run < runs; run++) {
    for (const [name, args] of Object.entries(lines)) taken[name].push(runNode(args, { cwd, env }))
  }
  return Object.fromEntries(
    Object.entries(taken).map(([name, all]) => [
      name,
      { ms: median(all.map(({ ms }) => ms)), rss: median(all.map(({ rss }) => rss)) },
    ]),
  )
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

/** One line of the table. `target`: at most this is good; null when nothing was promised. */
export function report(what, measured, unit, target) {
  process.stdout.write(`${JSON.stringify({ what, measured, unit, target })}\n`)
}

let folder
function probeFolder() {
  if (folder === undefined) {
    folder = mkdtempSync(join(tmpdir(), 'cass-bench-probe-'))
    const text = "process.on('exit', () => process.stderr.write('maxrss=' + process.resourceUsage().maxRSS))"
    writeFileSync(join(folder, 'probe.cjs'), text)
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  }
  return folder
}
