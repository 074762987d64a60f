import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test as base, expect, vi } from 'vitest'
import type { AnswerReply, Provider } from '../../fixtures/provider/server.mjs'
import { startProvider } from '../../fixtures/provider/server.mjs'
import { makeSandbox, type Outcome, program, type RunOptions, type Sandbox } from '../_cass.ts'

/** The key of the configured provider: found anywhere in what the program wrote, it has leaked. */
export const key = 'sk-never-shown-0123456789'

/** One event of `run --json`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at any part of it without narrowing
export type Event = { readonly type: string } & Record<string, any>

/** A sandbox whose workspace is the sample project, with a scripted strict provider configured. */
export interface World extends Sandbox {
  readonly provider: Provider
  /** The requests of the model so far, each as the provider got it. */
  readonly bodies: () => ReadonlyArray<Provider['chats'][number]['body']>
  /** Writes settings.json. */
  settings(settings: unknown): void
  /** Runs the program, which must succeed; gives stdout without its last line break. */
  ok(args: ReadonlyArray<string>, options?: RunOptions): Promise<string>
  /** The same with `--json`, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at any part of it without narrowing
  json(args: ReadonlyArray<string>, options?: RunOptions): Promise<any>
  /** Starts the program and leaves it running. */
  start(args: ReadonlyArray<string>, options?: RunOptions): Child
  /** The lines of the only conversation's log, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at any part of it without narrowing
  entries(): any[]
}

/** A program that runs. */
export interface Child {
  /** Sends a signal; SIGKILL is `kill -9`. */
  signal(name: NodeJS.Signals): void
  /** Resolves with the first event that fits, also one that came before; rejects when the program ends without one. */
  event(type: string, fits?: (event: Event) => boolean): Promise<Event>
  /** Resolves when stderr holds the text. */
  stderr(text: string): Promise<void>
  readonly ended: Promise<Outcome>
}

// Whole programs run here, several at once: on a busy machine each takes its time.
vi.setConfig({ testTimeout: 120_000 })

/** A test in a world of its own; at its end no request may have been one that a strict provider refuses. */
export const test = base.extend<{ world: World }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from the pattern
  world: async ({}, use) => {
    const world = await makeWorld()
    await use(world)
    await endWorld(world)
  },
})

/** Takes a world away; it must not have sent a request that a strict provider refuses. */
export async function endWorld({ provider, remove }: World): Promise<void> {
  const problems = provider.chats.flatMap((request) => request.problems)
  await provider.close()
  remove()
  expect(problems).toEqual([])
}

/** Makes a world by hand, for tests that share one; `endWorld` takes it away. */
export async function makeWorld(): Promise<World> {
  const sandbox = makeSandbox()
  const provider = await startProvider()
  mkdirSync(sandbox.cassHome, { mode: 0o700 })
  cpSync(sampleProject, sandbox.workspace, { recursive: true })
  mkdirSync(join(sandbox.workspace, '.git'))
  const write = (name: string, value: unknown) =>
    writeFileSync(join(sandbox.cassHome, name), JSON.stringify(value), { mode: 0o600 })
  write('providers.json', {
    providers: [
      {
        id: 'scripted',
        kind: 'openai-compatible',
        base_url: provider.url,
        api_key: '$SCRIPTED_KEY',
        default_model: 'scripted',
      },
    ],
  })
  write('models.json', { models: [] })
  write('config.json', { default_provider: 'scripted', default_access_mode: 'workspace-edit' })
  const env = { ...sandbox.env, SCRIPTED_KEY: key }
  const run: Sandbox['run'] = (args, options = {}) =>
    sandbox.run(args, { ...options, env: { SCRIPTED_KEY: key, ...options.env } })
  const ok: World['ok'] = async (args, options) => {
    const outcome = await run(args, options)
    if (outcome.exitCode !== 0) throw new Error(`${args.join(' ')} failed: ${JSON.stringify(outcome)}`)
    return outcome.stdout.replace(/\n$/, '')
  }
  return {
    ...sandbox,
    env,
    provider,
    run,
    ok,
    bodies: () => provider.chats.map(({ body }) => body),
    settings: (settings) => write('settings.json', settings),
    json: async (args, options) => JSON.parse(await ok([...args, '--json'], options)),
    start: (args, options = {}) =>
      startProgram(args, { cwd: sandbox.workspace, ...options, env: { ...env, ...options.env } }),
    entries: () => {
      const folder = join(sandbox.cassHome, 'conversations')
      const logs = readdirSync(folder).filter((name) => name.endsWith('.events.jsonl'))
      expect(logs).toHaveLength(1)
      const text = readFileSync(join(folder, logs[0]!), 'utf8')
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    },
  }
}

const sampleProject = fileURLToPath(new URL('../../fixtures/sample-project', import.meta.url))

function startProgram(
  args: ReadonlyArray<string>,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Child {
  const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  let isOver = false
  const watchers = new Set<() => void>()
  const look = () => {
    for (const watcher of [...watchers]) watcher()
  }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
    look()
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
    look()
  })
  const ended = new Promise<Outcome>((resolve) =>
    child.on('close', (exitCode) => {
      isOver = true
      look()
      resolve({ exitCode, stdout, stderr })
    }),
  )
  const until = <T>(what: string, find: () => T | undefined) =>
    new Promise<T>((resolve, reject) => {
      const watcher = () => {
        const found = find()
        if (found === undefined && !isOver) return
        watchers.delete(watcher)
        if (found !== undefined) resolve(found)
        else reject(new Error(`ended without ${what}; stdout: ${stdout} stderr: ${stderr}`))
      }
      watchers.add(watcher)
      watcher()
    })
  return {
    signal: (name) => void child.kill(name),
    event: (type, fits = () => true) =>
      until(`event ${type}`, () =>
        parseEvents(stdout.slice(0, stdout.lastIndexOf('\n') + 1)).find(
          (event) => event.type === type && fits(event),
        ),
      ),
    stderr: (text) =>
      until(`'${text}' on stderr`, () => (stderr.includes(text) ? true : undefined)).then(() => {}),
    ended,
  }
}

/** The events of `run --json`. */
export function parseEvents(stdout: string): Event[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** An answer that calls one tool. */
export function call(name: string, args: unknown, id?: string): AnswerReply {
  return { calls: [{ name, arguments: args, ...(id === undefined ? {} : { id }) }] }
}

/** A shell command that ends only with the program that runs it, however that ends, and says that it has begun. */
export const waitForEver = 'echo waiting; while kill -0 $PPID 2>/dev/null; do sleep 0.05; done'

/** All bytes below a folder as one text, names included. */
export function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return entry.isFile() ? `${path}\n${readFileSync(path, 'latin1')}` : path
    })
    .join('\n')
}
