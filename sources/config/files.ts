import { lstat } from 'node:fs/promises'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { isOtherKind, readRegular } from '../files/openRegular.ts'
import { type ConfigFile, emptyConfigFile, parseConfigFile } from './configFile.ts'
import type { Reading } from './faults.ts'
import type { Finding } from './finding.ts'
import { readJson } from './json.ts'
import { defaultModels, type Model, type ModelEntry, parseModelsFile } from './modelsFile.ts'
import { defaultProviders, type Provider, type ProviderEntry, parseProvidersFile } from './providersFile.ts'
import { defaultSettings, parseSettingsFile, type Settings } from './settingsFile.ts'

export type ConfigFileName = 'config.json' | 'providers.json' | 'models.json' | 'settings.json'

/** A file as it was found. `value` is usable as far as it goes; only a file without errors may be acted on. */
export interface InspectedFile<T> {
  readonly name: ConfigFileName
  readonly path: string
  /** `broken`: nothing in it could be read. */
  readonly state: 'absent' | 'read' | 'broken'
  readonly value: T
  readonly faults: ReadonlyArray<Finding>
}

/** All four files, faults and all. */
export interface InspectedConfig {
  readonly config: InspectedFile<ConfigFile>
  readonly providers: InspectedFile<ReadonlyArray<ProviderEntry>>
  readonly models: InspectedFile<ReadonlyArray<ModelEntry>>
  readonly settings: InspectedFile<Settings>
}

/** The four files without faults. A missing one stands here with its defaults. */
export interface ConfigFiles {
  readonly config: ConfigFile
  readonly providers: ReadonlyArray<Provider>
  readonly models: ReadonlyArray<Model>
  readonly settings: Settings
  /** Which of the shared files exist; the others stand here with their defaults. */
  readonly present: { readonly config: boolean; readonly providers: boolean; readonly models: boolean }
}

/** Reads all files of a root and reports every fault. Creates nothing, and never throws for what a file holds. */
export async function inspectConfigFiles(root: string): Promise<InspectedConfig> {
  const [config, providers, models, settings] = await Promise.all([
    inspect({ root, name: 'config.json', absent: emptyConfigFile, parse: parseConfigFile }),
    inspect({ root, name: 'providers.json', absent: asProviderEntries(), parse: parseProvidersFile }),
    inspect({ root, name: 'models.json', absent: asModelEntries(), parse: parseModelsFile }),
    inspect({ root, name: 'settings.json', absent: defaultSettings, parse: parseSettingsFile }),
  ])
  return { config, providers, models: withoutStrangers(models, providers.value), settings }
}

/** Reads all files of a root. Throws `config_invalid` when one of them has an error. */
export async function readConfigFiles(root: string): Promise<ConfigFiles> {
  return requireSound(await inspectConfigFiles(root))
}

/** The values of files that have no errors; throws `config_invalid` for the first fault, with all of them in `data`. */
export function requireSound({ config, providers, models, settings }: InspectedConfig): ConfigFiles {
  for (const file of [config, providers, models, settings]) requireNoFaults(file)
  return {
    config: config.value,
    providers: providers.value.flatMap(({ value }) => value ?? []),
    models: models.value.flatMap(({ value }) => value ?? []),
    settings: settings.value,
    present: {
      config: config.state !== 'absent',
      providers: providers.state !== 'absent',
      models: models.state !== 'absent',
    },
  }
}

/** Throws `config_invalid` when the file has an error. */
function requireNoFaults(file: InspectedFile<unknown>): void {
  const errors = file.faults.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first === undefined) return
  const others = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`
  throw new CassError('config_invalid', `${first.message}${others}`, {
    hint: `correct '${file.path}', then run 'cass check'`,
    data: { findings: errors },
  })
}

interface InspectRequest<T> {
  readonly root: string
  readonly name: ConfigFileName
  /** The value of a missing file. */
  readonly absent: T
  readonly parse: (raw: unknown) => Reading<T>
}

/** Reads one file. */
async function inspect<T>({ root, name, absent, parse }: InspectRequest<T>): Promise<InspectedFile<T>> {
  const file = path.join(root, name)
  const broken = (code: string, problem: string, hint: string): InspectedFile<T> => {
    const fault: Finding = { severity: 'error', code, subject: name, message: `${name}: ${problem}`, hint }
    return { name, path: file, state: 'broken', value: parse({}).value, faults: [fault] }
  }
  let bytes: Buffer
  try {
    bytes = readRegular(file)
  } catch (error) {
    if (isOtherKind(error)) return broken('file_unreadable', 'is not a file', 'replace it by a file')
    const reason = errnoOf(error)
    if (reason === 'ENOENT') {
      // Writing would put a file in place of such a link.
      if (await isLink(file))
        return broken('file_unreadable', 'is a link that leads nowhere', 'mend the link, or delete it')
      return { name, path: file, state: 'absent', value: absent, faults: [] }
    }
    if (reason === null) throw error
    return broken('file_unreadable', `cannot be read (${reason})`, `make '${file}' readable for you`)
  }
  const text = tryDecode(bytes)
  if (text === null) return broken('malformed_json', 'the text is not UTF-8', 'save it as UTF-8')
  const json = readJson(text)
  if (!json.ok) {
    return broken(json.code, `line ${json.line}, column ${json.column}: ${json.problem}`, json.hint)
  }
  return { name, path: file, state: 'read', ...parse(json.value) }
}

async function isLink(file: string): Promise<boolean> {
  try {
    return (await lstat(file)).isSymbolicLink()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Null: not UTF-8. A byte order mark is taken off. */
function tryDecode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

function asProviderEntries(): ReadonlyArray<ProviderEntry> {
  return defaultProviders.map((value, index) => ({ index, id: value.id, value }))
}

/** The built-in model of a missing models.json, but only where its provider is there too. */
function withoutStrangers(
  models: InspectedFile<ReadonlyArray<ModelEntry>>,
  providers: ReadonlyArray<ProviderEntry>,
): InspectedFile<ReadonlyArray<ModelEntry>> {
  if (models.state !== 'absent') return models
  return {
    ...models,
    value: models.value.filter(({ provider }) => providers.some(({ id }) => id === provider)),
  }
}

function asModelEntries(): ReadonlyArray<ModelEntry> {
  return defaultModels.map((value, index) => ({ index, id: value.id, provider: value.provider, value }))
}
