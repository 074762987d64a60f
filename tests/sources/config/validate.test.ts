import { describe, expect, test } from 'vitest'
import { inspectConfigFiles } from '../../../sources/config/files.ts'
import { validateConfig } from '../../../sources/config/validate.ts'
import { makeHome } from './_config.ts'

const good = { id: 'good', kind: 'openai-compatible', base_url: 'https://good.example/v1', api_key: '$GOOD' }

async function found(files: Readonly<Record<string, unknown>>): Promise<ReadonlyArray<string>> {
  const findings = validateConfig(await inspectConfigFiles(makeHome(files)))
  return findings.map(({ severity, code, message }) => `${severity} ${code} ${message}`)
}

function providers(...entries: ReadonlyArray<object>) {
  return { 'providers.json': { providers: entries } }
}

function models(...entries: ReadonlyArray<object>) {
  return { 'models.json': { models: entries } }
}

describe('validateConfig', () => {
  test('has nothing to say of the defaults and of a sound configuration', async () => {
    expect(await found({})).toEqual([])
    const codex = { id: 'codex', kind: 'chatgpt-codex', base_url: 'https://c.example' }
    const local = { id: 'local', kind: 'openai-compatible', base_url: 'http://localhost:1/v1' }
    const cassady = { id: 'cassady', kind: 'cassady-api', base_url: 'http://localhost:2' }
    expect(
      await found({ ...providers(good, codex, local, cassady), ...models({ id: 'm', provider: 'good' }) }),
    ).toEqual([])
  })

  test.each<[object, ReadonlyArray<string>]>([
    [{ id: ' ' }, ['error provider_id_empty providers.json: providers[1].id: is empty']],
    [{ kind: '' }, ['error provider_kind_empty providers.json: providers[1].kind: is empty']],
    [
      { kind: 'gemini' },
      ["error provider_kind_unsupported providers.json: providers[1].kind: 'gemini' is not supported"],
    ],
    [{ base_url: '' }, ['error base_url_empty providers.json: providers[1].base_url: is empty']],
    [
      { base_url: 'good.example' },
      ['error base_url_invalid providers.json: providers[1].base_url: is not a URL'],
    ],
    [
      { base_url: 'ftp://x' },
      ['error base_url_invalid providers.json: providers[1].base_url: must start with http:// or https://'],
    ],
    [
      { base_url: 'https://u:p@x' },
      ['error base_url_invalid providers.json: providers[1].base_url: must not hold a user name or password'],
    ],
    [{ api_key: '' }, ['error api_key_invalid providers.json: providers[1].api_key: is empty']],
    [{ api_key: '$' }, ["error api_key_invalid providers.json: providers[1].api_key: '$' names no variable"]],
    [{ kind: 'cassady-api', api_key: '$' }, []],
    [
      { kind: 'chatgpt-codex', api_key: 'x' },
      [
        'warning codex_key_ignored providers.json: providers[1].api_key: is not used by this kind of provider',
      ],
    ],
    [
      { default_model: ' ' },
      ['error provider_default_model_blank providers.json: providers[1].default_model: is blank'],
    ],
    [{ models: [''] }, ['error provider_model_blank providers.json: providers[1].models[0]: is blank']],
    [
      { id: 'good' },
      ["error duplicate_provider providers.json: providers[1].id: duplicate provider id 'good'"],
    ],
    [
      { default_model: 'a', models: ['a', 'b'] },
      [
        "warning model_entry_missing providers.json: providers[1].default_model: the model 'a' has no entry in models.json",
        "warning model_entry_missing providers.json: providers[1].models[1]: the model 'b' has no entry in models.json",
      ],
    ],
  ])('judges a provider with %j', async (fields, expected) => {
    expect(await found(providers(good, { ...good, id: 'other', ...fields }))).toEqual(expected)
  })

  test.each<[object, ReadonlyArray<string>]>([
    [{ id: '' }, ['error model_id_empty models.json: models[1].id: is empty']],
    [{ provider: '' }, ['error model_provider_empty models.json: models[1].provider: is empty']],
    [
      { provider: 'x' },
      [
        "error model_provider_unknown models.json: models[1].provider: the provider 'x' is not in providers.json",
      ],
    ],
    [{ context_length: 0 }, ['error context_length_zero models.json: models[1].context_length: is 0']],
    [
      { max_output_tokens: 0 },
      ['error max_output_tokens_zero models.json: models[1].max_output_tokens: is 0'],
    ],
    [
      { reasoning: { required: true, supported: false } },
      [
        'error reasoning_required_unsupported models.json: models[1].reasoning.required: is true, but reasoning.supported is false',
      ],
    ],
    [
      { reasoning: { required: true, default_effort: 'off' } },
      [
        "error reasoning_required_off models.json: models[1].reasoning.default_effort: is 'off', but reasoning.required is true",
      ],
    ],
    [
      { id: 'a' },
      ["error duplicate_model models.json: models[1].id: duplicate model 'a' of the provider 'good'"],
    ],
  ])('judges a model with %j', async (fields, expected) => {
    const files = {
      ...providers(good),
      ...models({ id: 'a', provider: 'good' }, { id: 'b', provider: 'good', ...fields }),
    }
    expect(await found(files)).toEqual(expected)
  })

  test('allows the same model at two providers', async () => {
    const files = {
      ...providers(good, { ...good, id: 'b' }),
      ...models({ id: 'm', provider: 'good' }, { id: 'm', provider: 'b' }),
    }
    expect(await found(files)).toEqual([])
  })

  test('judges config.json', async () => {
    const config = {
      default_provider: 'gone',
      provider: 'p',
      model: 'm',
      base_url: 'nowhere',
      api_key_env: 'sk-secret',
    }
    expect(await found({ 'config.json': config })).toEqual([
      "error default_provider_unknown config.json: default_provider: the provider 'gone' is not in providers.json",
      'error base_url_invalid config.json: base_url: is not a URL',
      'error api_key_env_invalid config.json: api_key_env: is not the name of an environment variable',
      'warning deprecated_field config.json: provider: is deprecated',
      'warning deprecated_field config.json: model: is deprecated',
      'warning deprecated_field config.json: base_url: is deprecated',
      'warning deprecated_field config.json: api_key_env: is deprecated',
    ])
  })

  test('finds every class of fault at once', async () => {
    const files = {
      'config.json': { default_provider: 'gone' },
      ...providers(good, good, { ...good, id: 'x', base_url: 'x' }),
      ...models({ id: 'm', provider: 'gone' }, { id: 'm', provider: 'gone', context_length: 0 }),
    }
    const codes = (await found(files)).map((line) => line.split(' ')[1])
    expect(codes).toEqual([
      'base_url_invalid',
      'duplicate_provider',
      'context_length_zero',
      'model_provider_unknown',
      'model_provider_unknown',
      'duplicate_model',
      'default_provider_unknown',
    ])
  })

  test('judges what can be read when another file does not parse, and guesses nothing about that one', async () => {
    const badModels = models({ id: 'm', provider: 'unknown', context_length: 0 })
    expect(
      await found({ 'providers.json': '{', 'config.json': { default_provider: 'x' }, ...badModels }),
    ).toEqual(['error context_length_zero models.json: models[0].context_length: is 0'])
    expect(
      await found({ ...providers({ ...good, default_model: 'm', base_url: '' }), 'models.json': '' }),
    ).toEqual(['error base_url_empty providers.json: providers[0].base_url: is empty'])
  })

  test('judges the sound entries beside faulty ones', async () => {
    const files = {
      ...providers({ id: 'half' }, good, { ...good, extra: 1 }),
      ...models({ id: 'm', provider: 'half' }),
    }
    expect(await found(files)).toEqual([
      "error duplicate_provider providers.json: providers[2].id: duplicate provider id 'good'",
    ])
  })
})
