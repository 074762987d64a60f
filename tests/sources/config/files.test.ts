import { chmodSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { emptyConfigFile } from '../../../sources/config/configFile.ts'
import { inspectConfigFiles, readConfigFiles } from '../../../sources/config/files.ts'
import { defaultSettings } from '../../../sources/config/settingsFile.ts'
import { makeHome, rejectionOf } from './_config.ts'

const names = ['config.json', 'providers.json', 'models.json', 'settings.json'] as const

async function messages(files: Readonly<Record<string, unknown>>): Promise<ReadonlyArray<string>> {
  const { config, providers, models, settings } = await inspectConfigFiles(makeHome(files))
  return [config, providers, models, settings].flatMap((file) => file.faults.map((fault) => fault.message))
}

describe('reading an empty home', () => {
  test('gives the defaults and makes no file', async () => {
    const root = makeHome()
    const { config, providers, models, settings, present } = await readConfigFiles(root)
    expect(config).toEqual(emptyConfigFile)
    expect(settings).toEqual(defaultSettings)
    expect(present).toEqual({ config: false, providers: false, models: false })
    expect(providers).toMatchObject([
      {
        id: 'fireworks',
        name: 'Fireworks',
        kind: 'openai-compatible',
        base_url: 'https://api.fireworks.ai/inference/v1',
        default_model: 'accounts/fireworks/models/qwen3p7-plus',
        models: ['accounts/fireworks/models/qwen3p7-plus'],
      },
    ])
    expect(providers[0]?.api_key.reveal()).toBe('$FIREWORKS_API_KEY')
    expect(models).toEqual([
      {
        id: 'accounts/fireworks/models/qwen3p7-plus',
        provider: 'fireworks',
        display_name: 'Qwen 3p7 Plus',
        context_length: 262144,
        max_output_tokens: 32768,
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
    ])
    expect(readdirSync(root)).toEqual([])
  })

  test('works for a home that does not exist', async () => {
    expect((await readConfigFiles(path.join(makeHome(), 'none'))).present.config).toBe(false)
  })

  test('does not give the built-in model to providers that are not the built-in one', async () => {
    const providers = [{ id: 'own', kind: 'openai-compatible', base_url: 'http://localhost:1' }]
    expect((await readConfigFiles(makeHome({ 'providers.json': { providers } }))).models).toEqual([])
  })
})

describe('reading', () => {
  test('fills the defaults of minimal entries', async () => {
    const root = makeHome({
      'providers.json': { providers: [{ id: 'p', kind: 'chatgpt-codex', base_url: 'https://x.example' }] },
      'models.json': {
        models: [{ id: 'm', provider: 'p', display_name: null, reasoning: { required: true } }],
      },
    })
    const { providers, models } = await readConfigFiles(root)
    expect(providers).toMatchObject([{ id: 'p', name: null, default_model: null, models: [] }])
    expect(providers[0]?.api_key.form).toBe('none')
    expect(models).toEqual([
      {
        id: 'm',
        provider: 'p',
        display_name: null,
        context_length: null,
        max_output_tokens: null,
        supports_tools: true,
        supports_streaming: true,
        reasoning: {
          supported: true,
          required: true,
          default_effort: 'medium',
          request_format: 'reasoning_effort',
        },
        fast_mode: { supported: false },
      },
    ])
  })

  test('takes null for every field of config.json, and a byte order mark', async () => {
    const root = makeHome({ 'config.json': `\ufeff${JSON.stringify(emptyConfigFile)}` })
    expect((await readConfigFiles(root)).config).toEqual(emptyConfigFile)
  })

  test('keeps the fields of fast mode', async () => {
    const root = makeHome({
      'config.json': { default_fast_mode: true },
      'models.json': { models: [{ id: 'm', provider: 'p', fast_mode: { supported: true } }] },
    })
    const { config, models } = await readConfigFiles(root)
    expect(config.default_fast_mode).toBe(true)
    expect(models[0]?.fast_mode).toEqual({ supported: true })
  })

  test('takes settings one by one and keeps the defaults of the rest', async () => {
    const settings = {
      pager: false,
      snapshots: { retainTurns: 0 },
      updates: { repository: 'a/b' },
      retries: 0,
    }
    expect((await readConfigFiles(makeHome({ 'settings.json': settings }))).settings).toEqual({
      ...defaultSettings,
      pager: false,
      retries: 0,
      snapshots: { ...defaultSettings.snapshots, retainTurns: 0 },
      updates: { repository: 'a/b' },
    })
  })
})

describe('a fault', () => {
  test.each(names)('of the JSON of %s is told with its place, and the file is left alone', async (name) => {
    const root = makeHome({ [name]: '{\n  "a": 1,\n}\n' })
    const error = await rejectionOf(readConfigFiles(root))
    expect(error).toMatchObject({
      code: 'config_invalid',
      message: `${name}: line 2, column 9: a comma stands behind the last item`,
      hint: `correct '${path.join(root, name)}', then run 'cass check'`,
    })
    expect(readdirSync(root)).toEqual([name])
  })

  test.each(names)('of %s: it is empty, no object, not UTF-8, not a file, or leads nowhere', async (name) => {
    expect((await messages({ [name]: '' }))[0]).toBe(`${name}: line 1, column 1: the file is empty`)
    expect((await messages({ [name]: [] }))[0]).toBe(`${name}: must be an object, not an array`)
    expect((await messages({ [name]: 'null' }))[0]).toBe(`${name}: must be an object, not null`)
    const root = makeHome()
    mkdirSync(path.join(root, name))
    expect((await rejectionOf(readConfigFiles(root))).message).toBe(`${name}: is not a file`)
    const linked = makeHome()
    symlinkSync('nowhere', path.join(linked, name))
    expect((await rejectionOf(readConfigFiles(linked))).message).toBe(`${name}: is a link that leads nowhere`)
  })

  test.skipIf(process.getuid?.() === 0)('is a file that may not be read', async () => {
    const root = makeHome({ 'config.json': {} })
    chmodSync(path.join(root, 'config.json'), 0)
    expect((await rejectionOf(readConfigFiles(root))).message).toBe('config.json: cannot be read (EACCES)')
  })

  test.each<[string, unknown, ReadonlyArray<string>]>([
    ['config.json', { colour: 1 }, ['config.json: colour: unknown field']],
    ['config.json', { 'a "b"': 1 }, ['config.json: ["a \\"b\\""]: unknown field']],
    [
      'config.json',
      '{"__proto__": {}, "constructor": 1}',
      ['config.json: __proto__: unknown field', 'config.json: constructor: unknown field'],
    ],
    [
      'config.json',
      {
        default_access_mode: 'all',
        default_reasoning_effort: 1,
        show_reasoning: 'yes',
        context_message_limit: -1,
      },
      [
        'config.json: default_reasoning_effort: must be one of "off", "low", "medium", or "high"',
        'config.json: default_access_mode: must be one of "read-only", "workspace-edit", or "full-access"',
        'config.json: context_message_limit: must be at least 0',
        'config.json: show_reasoning: must be a boolean, not a string',
      ],
    ],
    [
      'config.json',
      { context_message_limit: 1.5 },
      ['config.json: context_message_limit: must be a whole number'],
    ],
    ['config.json', { context_message_limit: 1e300 }, ['config.json: context_message_limit: is too large']],
    [
      'config.json',
      { context_message_limit: [] },
      ['config.json: context_message_limit: must be a number, not an array'],
    ],
    ['providers.json', {}, ['providers.json: providers: is required']],
    [
      'providers.json',
      { providers: {}, x: 1 },
      ['providers.json: providers: must be an array, not an object', 'providers.json: x: unknown field'],
    ],
    [
      'providers.json',
      {
        providers: [null, [], { id: 1, kind: 'k', base_url: 'u', api_key: null, models: ['a', 2], url: 'x' }],
      },
      [
        'providers.json: providers[0]: must be an object, not null',
        'providers.json: providers[1]: must be an object, not an array',
        'providers.json: providers[2].id: must be a string, not a number',
        'providers.json: providers[2].api_key: must be a string, not null',
        'providers.json: providers[2].models[1]: must be a string, not a number',
        'providers.json: providers[2].url: unknown field',
      ],
    ],
    [
      'providers.json',
      { providers: [{ id: 'a', kind: 'k' }] },
      ['providers.json: providers[0].base_url: is required'],
    ],
    [
      'models.json',
      {
        models: [
          { id: 'm', supports_tools: null, context_length: '8k', reasoning: { effort: 1 }, fast_mode: [] },
        ],
      },
      [
        'models.json: models[0].provider: is required',
        'models.json: models[0].context_length: must be a number, not a string',
        'models.json: models[0].supports_tools: must be a boolean, not null',
        'models.json: models[0].reasoning.effort: unknown field',
        'models.json: models[0].fast_mode: must be an object, not an array',
      ],
    ],
    [
      'settings.json',
      {
        pager: true,
        theme: 'blue',
        snapshots: [],
        updates: { repository: 'x' },
        shellScan: { maxFiles: -1, depth: 1 },
      },
      [
        'settings.json: theme: must be one of "auto", "dark", or "light"',
        'settings.json: pager: must be a string or false',
        'settings.json: snapshots: must be an object, not an array',
        'settings.json: shellScan.maxFiles: must be at least 0',
        'settings.json: shellScan.depth: unknown field',
        'settings.json: updates.repository: must have the form "owner/name"',
      ],
    ],
  ])('of %s names file, field and fix: %j', async (name, content, expected) => {
    const inspected = await inspectConfigFiles(makeHome({ [name]: content }))
    const faults = Object.values(inspected).flatMap((file) => file.faults)
    expect(faults.map(({ message }) => message)).toEqual(expected)
    for (const { hint } of faults) expect(hint).toMatch(/^[a-z]/)
  })

  test('that is an unknown field is an error in a shared file and a warning in settings.json', async () => {
    const root = makeHome({ 'config.json': { x: 1 }, 'settings.json': { y: 1, retries: 2 } })
    const { config, settings } = await inspectConfigFiles(root)
    expect(config.faults[0]).toMatchObject({ severity: 'error', code: 'unknown_field' })
    expect(settings.faults[0]).toMatchObject({ severity: 'warning', code: 'unknown_field' })
    const warned = makeHome({ 'settings.json': { y: 1, retries: 2 } })
    expect((await readConfigFiles(warned)).settings.retries).toBe(2)
  })

  test('of several is told with how many there are', async () => {
    const error = await rejectionOf(readConfigFiles(makeHome({ 'config.json': { x: 1, y: 2 } })))
    expect(error.message).toBe('config.json: x: unknown field (and 1 more)')
  })
})
