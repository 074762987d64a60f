import { spawn } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { WorkerTask } from './_worker.ts'

const here = path.dirname(fileURLToPath(import.meta.url))

/** Bundles the worker into a folder, so that Node runs it without knowing TypeScript. */
export async function buildWorker(folder: string): Promise<string> {
  const outfile = path.join(folder, 'worker.mjs')
  await build({
    entryPoints: [path.join(here, '_worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  })
  symlinkSync(path.resolve(here, '../../../node_modules'), path.join(folder, 'node_modules'))
  return outfile
}

/** Runs one task to its end. A process that was killed has a signal and no code. */
export function runWorker(
  script: string,
  task: WorkerTask,
): Promise<{ code: number | null; signal: string | null; stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, JSON.stringify(task)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code !== 0 && signal === null) reject(new Error(`the worker failed: ${stderr}`))
      else resolve({ code, signal, stdout })
    })
  })
}
