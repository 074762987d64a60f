import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { writeFileDurably } from '../files/durable.ts'
import { acquireLock } from '../files/lockFile.ts'
import { ensurePrivateFolder } from '../files/privateFolder.ts'
import { type ConfigFile, parseConfigFile, stringifyConfigFile } from './configFile.ts'
import { type ConfigFiles, inspectConfigFiles, requireSound } from './files.ts'
import type { Finding } from './finding.ts'
import { readJson } from './json.ts'
import { type Model, parseModelsFile, stringifyModelsFile } from './modelsFile.ts'
import { type Provider, parseProvidersFile, stringifyProvidersFile } from './providersFile.ts'

/** What to write; a file that is not named stays as it is. */
export interface ConfigChange {
  readonly providers?: ReadonlyArray<Provider>
  readonly models?: ReadonlyArray<Model>
  readonly config?: ConfigFile
}

export interface ConfigUpdate {
  readonly root: string
  /** How long to wait for another process that is writing. */
  readonly timeoutMs: number
  /** Gets the files as they are now and says what to write. It is called once, may throw, and must not write itself. */
  readonly change: (files: ConfigFiles) => ConfigChange
}

type SharedFile = 'providers.json' | 'models.json' | 'config.json'

const faultsOf: Readonly<Record<SharedFile, (raw: unknown) => ReadonlyArray<Finding>>> = {
  'providers.json': (raw) => parseProvidersFile(raw).faults,
  'models.json': (raw) => parseModelsFile(raw).faults,
  'config.json': (raw) => parseConfigFile(raw).faults,
}

/**
 * Changes the shared files: read, change, write, under one lock, each file replaced as a whole. Providers are written
 * first and config.json last, so that a crash between leaves no default that names a missing provider. Nothing is
 * written when a file has an error, or when the new text would not read back without one.
 */
export async function updateConfigFiles({ root, timeoutMs, change }: ConfigUpdate): Promise<void> {
  await ensurePrivateFolder(root)
  const locks = path.join(root, 'locks')
  await ensurePrivateFolder(locks)
  const lock = await acquireLock({
    path: path.join(locks, 'config'),
    mode: 'exclusive',
    timeoutMs,
    subject: 'the configuration',
  })
  try {
    const { providers, models, config } = change(requireSound(await inspectConfigFiles(root)))
    const texts: ReadonlyArray<readonly [SharedFile, string | null]> = [
      ['providers.json', providers === undefined ? null : stringifyProvidersFile(providers)],
      ['models.json', models === undefined ? null : stringifyModelsFile(models)],
      ['config.json', config === undefined ? null : stringifyConfigFile(config)],
    ]
    for (const [name, text] of texts) if (text !== null) requireReadable(name, text)
    for (const [name, text] of texts) if (text !== null) await writeText(path.join(root, name), text)
  } finally {
    await lock.release()
  }
}

/** Changes config.json alone; every field that `change` leaves out of its answer stays. */
export async function updateConfig({
  root,
  timeoutMs,
  change,
}: {
  readonly root: string
  readonly timeoutMs: number
  readonly change: (config: ConfigFile) => Partial<ConfigFile>
}): Promise<void> {
  await updateConfigFiles({
    root,
    timeoutMs,
    change: ({ config }) => ({ config: { ...config, ...change(config) } }),
  })
}

function requireReadable(name: SharedFile, text: string): void {
  const json = readJson(text)
  const problem = json.ok ? faultsOf[name](json.value)[0]?.message : json.problem
  if (problem !== undefined) throw new Error(`Assertion failed: would write a faulty file: ${problem}`)
}

async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFileDurably(file, text)
  } catch (error) {
    const reason = errnoOf(error)
    if (reason === null) throw error
    throw new CassError('config_write_failed', `cannot write '${file}' (${reason})`, {
      cause: error,
      hint: 'make room or give yourself the right to write there; the old file is unchanged',
    })
  }
}
