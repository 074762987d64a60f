import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach } from 'vitest'
import { type ConfigFile, emptyConfigFile } from '../../../sources/config/configFile.ts'
import type { ConfigFiles } from '../../../sources/config/files.ts'
import { KeyReference } from '../../../sources/config/key.ts'
import { defaultModels, type Model } from '../../../sources/config/modelsFile.ts'
import { defaultProviders, type Provider } from '../../../sources/config/providersFile.ts'
import { defaultSettings } from '../../../sources/config/settingsFile.ts'
import { CassError } from '../../../sources/errors.ts'

const made: string[] = []

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A home folder with the given files; texts are written as they are, everything else as JSON. */
export function makeHome(files: Readonly<Record<string, unknown>> = {}): string {
  const base = mkdtempSync(path.join(tmpdir(), 'cass-config-'))
  made.push(base)
  const root = path.join(base, '.cass')
  mkdirSync(root, { mode: 0o700 })
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    writeFileSync(path.join(root, name), text, { mode: 0o600 })
  }
  return root
}

export function provider(
  id: string,
  fields: Partial<Omit<Provider, 'api_key'>> & { readonly key?: string } = {},
): Provider {
  const { key, ...rest } = fields
  return {
    id,
    name: null,
    kind: 'openai-compatible',
    base_url: `https://api.${id}.example/v1`,
    api_key: new KeyReference(key ?? `$${id.toUpperCase()}_KEY`),
    default_model: null,
    models: [],
    ...rest,
  }
}

export function model(id: string, owner: string, fields: Partial<Model> = {}): Model {
  return { ...defaultModels[0]!, id, provider: owner, display_name: null, ...fields }
}

/** Files as they would be read; what is not given is missing. */
export function files(given: {
  readonly config?: Partial<ConfigFile>
  readonly providers?: ReadonlyArray<Provider>
  readonly models?: ReadonlyArray<Model>
}): ConfigFiles {
  return {
    config: { ...emptyConfigFile, ...given.config },
    providers: given.providers ?? defaultProviders,
    models: given.models ?? defaultModels,
    settings: defaultSettings,
    present: {
      config: given.config !== undefined,
      providers: given.providers !== undefined,
      models: given.models !== undefined,
    },
  }
}

/** The error that the action throws; fails when it throws none, or one that no person should meet. */
export function errorOf(action: () => unknown): CassError {
  try {
    action()
  } catch (error) {
    if (error instanceof CassError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

export async function rejectionOf(promise: Promise<unknown>): Promise<CassError> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  if (outcome instanceof CassError) return outcome
  throw new Error(`expected a CassError, got ${String(outcome)}`)
}
