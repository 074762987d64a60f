import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The built program. */
export const program = fileURLToPath(new URL('../dist/cass.cjs', import.meta.url))

/** How a run of the program ended. `exitCode` is null when a signal ended it. */
export interface Outcome {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** Text for stdin; omitted: stdin is `/dev/null`. */
  readonly input?: string | Buffer
  /** Added to the hermetic environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Omitted: the sandbox's workspace. */
  readonly cwd?: string
}

/** A world of its own for runs of the program: an empty home, an empty CASS_HOME and an empty workspace. */
export interface Sandbox {
  /** Canonical; holds everything below. */
  readonly folder: string
  readonly home: string
  readonly cassHome: string
  readonly workspace: string
  readonly env: Readonly<Record<string, string>>
  /** Runs the program to its end. */
  run(args: ReadonlyArray<string>, options?: RunOptions): Promise<Outcome>
  /** Removes the folder. */
  remove(): void
}

/** Makes a sandbox. Its environment is built from nothing, so no key, certificate, git or editor setting leaks in. */
export function makeSandbox(): Sandbox {
  if (!existsSync(program)) throw new Error(`'${program}' is missing: run \`npm run build\``)
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cass-test-')))
  const [home, cassHome, workspace] = ['home', 'cass', 'workspace'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [home, workspace]) mkdirSync(path)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    USERPROFILE: home,
    CASS_HOME: cassHome,
    TMPDIR: process.env.TMPDIR ?? tmpdir(),
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TERM: 'dumb',
    // A provider on loopback must be reached directly, whatever proxy this machine has.
    NO_PROXY: '*',
  }
  const run = (args: ReadonlyArray<string>, options: RunOptions = {}) =>
    runProgram(args, { cwd: workspace, ...options, env: { ...env, ...options.env } })
  return {
    folder,
    home,
    cassHome,
    workspace,
    env,
    run,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Runs the built program to its end, with exactly this environment. */
export async function runProgram(
  args: ReadonlyArray<string>,
  { input, env, cwd }: RunOptions & { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const stdout = collect(child.stdout!)
  const stderr = collect(child.stderr!)
  // The program may end without reading all of it.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}
