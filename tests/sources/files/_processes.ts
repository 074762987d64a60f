import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll } from 'vitest'

const here = path.dirname(fileURLToPath(import.meta.url))
const children: ChildProcess[] = []
const folders: string[] = []
let script = ''

/** A temporary folder that is removed after the tests of the file; canonical. */
export function makeFolder(): string {
  const folder = realpathSync.native(mkdtempSync(path.join(os.tmpdir(), 'cass-files-')))
  folders.push(folder)
  return folder
}

/** Bundles the process that holds locks, and ends all of them after each test. */
export function useLockers(): void {
  beforeAll(async () => {
    const folder = makeFolder()
    script = path.join(folder, 'locker.mjs')
    await build({
      ...{ entryPoints: [path.join(here, '_locker.ts')], outfile: script, bundle: true, platform: 'node' },
      ...{ format: 'esm', packages: 'external', logLevel: 'silent' },
    })
    symlinkSync(path.resolve(here, '../../../node_modules'), path.join(folder, 'node_modules'))
  })
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child)
  })
  afterAll(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
}

/** Another process that tries to take a lock and stays; tells whether it has it. */
export async function startLocker(...args: string[]): Promise<{ child: ChildProcess; says: string }> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const says = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (chunk) => resolve(String(chunk).trim()))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it said anything`)))
  })
  return { child, says }
}

/** Kills a process at once and waits until it is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  child.kill('SIGKILL')
  await gone
}
