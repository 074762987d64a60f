import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ConfigFile,
  emptyConfigFile,
  parseConfigFile,
  stringifyConfigFile,
} from '../../../sources/config/configFile.ts'
import { readConfigFiles } from '../../../sources/config/files.ts'
import { readJson } from '../../../sources/config/json.ts'
import { KeyReference } from '../../../sources/config/key.ts'
import { type Model, parseModelsFile, stringifyModelsFile } from '../../../sources/config/modelsFile.ts'
import {
  type Provider,
  parseProvidersFile,
  stringifyProvidersFile,
} from '../../../sources/config/providersFile.ts'
import { updateConfig, updateConfigFiles } from '../../../sources/config/update.ts'
import { makeHome, model, provider, rejectionOf } from './_config.ts'

const timeoutMs = 10_000

describe('updating config.json', () => {
  test('changes the given fields, keeps the others, and writes the shared order without absent ones', async () => {
    const root = makeHome({
      'config.json': {
        show_reasoning: true,
        ui_tool_result_limit: 7,
        default_access_mode: 'full-access',
        model: null,
      },
    })
    await updateConfig({
      root,
      timeoutMs,
      change: () => ({ default_fast_mode: true, default_provider: 'p' }),
    })
    expect(readFileSync(path.join(root, 'config.json'), 'utf8')).toBe(`{
  "default_provider": "p",
  "default_fast_mode": true,
  "default_access_mode": "full-access",
  "ui_tool_result_limit": 7,
  "show_reasoning": true
}
`)
  })

  test('makes home and file, readable by their owner only', async () => {
    const root = path.join(makeHome(), 'new', 'home')
    await updateConfig({ root, timeoutMs, change: () => ({ default_model: 'm' }) })
    expect(statSync(root).mode & 0o777).toBe(0o700)
    expect(statSync(path.join(root, 'config.json')).mode & 0o777).toBe(0o600)
    expect(readdirSync(root).sort()).toEqual(['config.json', 'locks'])
  })

  test('tightens a file that others could read', async () => {
    const root = makeHome({ 'config.json': {} })
    chmodSync(path.join(root, 'config.json'), 0o644)
    await updateConfig({ root, timeoutMs, change: () => ({ default_model: 'm' }) })
    expect(statSync(path.join(root, 'config.json')).mode & 0o777).toBe(0o600)
  })

  test('writes through a link', async () => {
    const root = makeHome({ 'config.json': {} })
    const real = path.join(path.dirname(root), 'dotfile.json')
    renameSync(path.join(root, 'config.json'), real)
    symlinkSync(real, path.join(root, 'config.json'))
    await updateConfig({ root, timeoutMs, change: () => ({ default_model: 'm' }) })
    expect(lstatSync(path.join(root, 'config.json')).isSymbolicLink()).toBe(true)
    expect(readFileSync(real, 'utf8')).toContain('"m"')
  })

  test('refuses and changes nothing when any file has an error', async () => {
    const broken = '{ "default_model": "m", }'
    const root = makeHome({ 'config.json': broken })
    const error = await rejectionOf(updateConfig({ root, timeoutMs, change: () => ({ default_model: 'n' }) }))
    expect(error.code).toBe('config_invalid')
    expect(readFileSync(path.join(root, 'config.json'), 'utf8')).toBe(broken)
  })

  test('never writes what could not be read back', async () => {
    const root = makeHome({ 'config.json': {} })
    const change = () => ({ context_message_limit: -1 })
    await expect(updateConfig({ root, timeoutMs, change })).rejects.toThrow('Assertion failed')
    expect(readFileSync(path.join(root, 'config.json'), 'utf8')).toBe('{}')
  })

  test('loses no change when many happen at once', async () => {
    const root = makeHome()
    const change = ({ context_message_limit }: ConfigFile) => ({
      context_message_limit: (context_message_limit ?? 0) + 1,
    })
    await Promise.all(Array.from({ length: 8 }, () => updateConfig({ root, timeoutMs, change })))
    expect((await readConfigFiles(root)).config.context_message_limit).toBe(8)
  })

  test.skipIf(process.getuid?.() === 0)('says so when the folder is not writable', async () => {
    const root = makeHome()
    await updateConfig({ root, timeoutMs, change: () => ({ default_model: 'm' }) })
    chmodSync(root, 0o500)
    const error = await rejectionOf(updateConfig({ root, timeoutMs, change: () => ({ default_model: 'n' }) }))
    chmodSync(root, 0o700)
    expect(error.code).toBe('config_write_failed')
  })
})

describe('updating all three files', () => {
  test('writes only those that are named, and gives the files as they are', async () => {
    const root = makeHome({ 'config.json': { default_model: 'old' } })
    await updateConfigFiles({
      root,
      timeoutMs,
      change: ({ config, present }) => {
        expect({ old: config.default_model, present }).toEqual({
          old: 'old',
          present: { config: true, providers: false, models: false },
        })
        return { providers: [provider('p', { key: 'sk-literal' })], models: [model('m', 'p')] }
      },
    })
    expect(readdirSync(root).sort()).toEqual(['config.json', 'locks', 'models.json', 'providers.json'])
    expect((await readConfigFiles(root)).providers[0]?.api_key.reveal()).toBe('sk-literal')
  })

  test('writes entries as the Rust program does', async () => {
    expect(stringifyProvidersFile([provider('p', { key: '', name: 'P' })])).toBe(`{
  "providers": [
    {
      "id": "p",
      "name": "P",
      "kind": "openai-compatible",
      "base_url": "https://api.p.example/v1"
    }
  ]
}
`)
    expect(
      JSON.parse(stringifyModelsFile([model('m', 'p', { context_length: null, max_output_tokens: null })])),
    ).toEqual({
      models: [
        {
          id: 'm',
          provider: 'p',
          supports_tools: true,
          supports_streaming: true,
          reasoning: {
            supported: true,
            required: false,
            default_effort: 'medium',
            request_format: 'reasoning_effort',
          },
          fast_mode: { supported: false },
        },
      ],
    })
  })

  test('leaves the old file whole when the write fails', async () => {
    const root = makeHome({ 'config.json': { default_model: 'old' } })
    // A folder in the place of the lock file: nothing can be locked, so nothing may be written.
    writeFileSync(path.join(root, 'locks'), '')
    await expect(
      updateConfig({ root, timeoutMs, change: () => ({ default_model: 'new' }) }),
    ).rejects.toThrow()
    expect((await readConfigFiles(root)).config.default_model).toBe('old')
  })
})

describe('every value that is written', () => {
  const text = fc.string({ unit: 'grapheme' })
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
  const effort = fc.constantFrom('off', 'low', 'medium', 'high')
  const limit = maybe(fc.nat({ max: Number.MAX_SAFE_INTEGER }))

  test('of config.json reads back equal and has no other field', () => {
    const configs: fc.Arbitrary<ConfigFile> = fc.record({
      default_provider: maybe(text),
      default_model: maybe(text),
      default_reasoning_effort: maybe(effort),
      default_fast_mode: maybe(fc.boolean()),
      provider: maybe(text),
      model: maybe(text),
      base_url: maybe(text),
      api_key_env: maybe(text),
      default_access_mode: maybe(fc.constantFrom('read-only', 'workspace-edit', 'full-access')),
      context_message_limit: limit,
      model_tool_result_limit: limit,
      ui_tool_result_limit: limit,
      show_reasoning: maybe(fc.boolean()),
      confirm_destructive_operations: maybe(fc.boolean()),
    })
    fc.assert(
      fc.property(configs, fc.string(), (config, extra) => {
        const written = stringifyConfigFile({ ...config, ...(extra in config ? {} : { [extra]: 1 }) })
        expect(parseConfigFile(JSON.parse(written))).toEqual({ value: config, faults: [] })
        expect(written.endsWith('}\n')).toBe(true)
        expect(readJson(written).ok).toBe(true)
        expect(Object.keys(emptyConfigFile)).toEqual(expect.arrayContaining(Object.keys(JSON.parse(written))))
      }),
    )
  })

  test('of providers.json reads back equal, keys too, and has no other field', () => {
    const providers: fc.Arbitrary<Provider> = fc.record({
      id: text,
      name: maybe(text),
      kind: fc.oneof(text, fc.constant('openai-compatible')),
      base_url: text,
      api_key: fc.oneof(text, fc.constant('$NAME')).map((key) => new KeyReference(key)),
      default_model: maybe(text),
      models: fc.array(text),
    })
    const allowed = ['id', 'name', 'kind', 'base_url', 'api_key', 'default_model', 'models']
    fc.assert(
      fc.property(fc.array(providers), (list) => {
        const written = stringifyProvidersFile(list)
        const { value, faults } = parseProvidersFile(JSON.parse(written))
        expect(faults).toEqual([])
        expect(value.map((entry) => entry.value)).toEqual(list)
        expect(value.map((entry) => entry.value?.api_key.reveal())).toEqual(
          list.map((one) => one.api_key.reveal()),
        )
        for (const entry of JSON.parse(written).providers)
          expect(allowed).toEqual(expect.arrayContaining(Object.keys(entry)))
        expect(stringifyProvidersFile(value.flatMap((entry) => entry.value ?? []))).toBe(written)
      }),
    )
  })

  test('of models.json reads back equal', () => {
    const models: fc.Arbitrary<Model> = fc.record({
      id: text,
      provider: text,
      display_name: maybe(text),
      context_length: limit,
      max_output_tokens: limit,
      supports_tools: fc.boolean(),
      supports_streaming: fc.boolean(),
      reasoning: fc.record({
        supported: fc.boolean(),
        required: fc.boolean(),
        default_effort: effort,
        request_format: fc.constantFrom('reasoning_effort', 'reasoning_object'),
      }),
      fast_mode: fc.record({ supported: fc.boolean() }),
    })
    fc.assert(
      fc.property(fc.array(models), (list) => {
        const { value, faults } = parseModelsFile(JSON.parse(stringifyModelsFile(list)))
        expect(faults).toEqual([])
        expect(value.map((entry) => entry.value)).toEqual(list)
      }),
    )
  })

  test('holds no lone surrogate, which the Rust program could not read', () => {
    expect(stringifyConfigFile({ ...emptyConfigFile, model: 'a\ud800b\u{1f600}' })).toContain(
      '"a\ufffdb\u{1f600}"',
    )
  })
})
