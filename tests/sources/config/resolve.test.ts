import { describe, expect, test } from 'vitest'
import { KeyReference } from '../../../sources/config/key.ts'
import { type ConfigOverrides, resolveConfig } from '../../../sources/config/resolve.ts'
import { errorOf, files, model, provider } from './_config.ts'

type Files = Parameters<typeof files>[0]

const openai = provider('openai', {
  base_url: 'https://api.openai.com/v1',
  default_model: 'gpt',
  models: ['gpt'],
})
const groq = provider('groq', { models: ['llama'] })
const fireworks = provider('fireworks', { models: ['qwen'] })
const env = { FIREWORKS_API_KEY: 'k' }

function resolve(given: Files, overrides: ConfigOverrides = {}, environment: Record<string, string> = env) {
  const {
    provider: chosen,
    key,
    model: id,
    metadata,
  } = resolveConfig({ files: files(given), overrides, env: environment })
  return { provider: chosen.id, url: chosen.base_url, key: String(key), model: id, known: metadata !== null }
}

function failure(given: Files, overrides: ConfigOverrides = {}, environment: Record<string, string> = env) {
  const { code, hint } = errorOf(() => resolve(given, overrides, environment))
  expect(hint).not.toBeNull()
  return code
}

describe('the provider', () => {
  test('is the built-in one when nothing is configured and its key is there', () => {
    expect(resolve({})).toEqual({
      provider: 'fireworks',
      url: 'https://api.fireworks.ai/inference/v1',
      key: '$FIREWORKS_API_KEY',
      model: 'accounts/fireworks/models/qwen3p7-plus',
      known: true,
    })
  })

  test('is missing when nothing is configured and no key is there', () => {
    const error = errorOf(() => resolve({}, {}, {}))
    expect(error).toMatchObject({ code: 'no_provider', message: 'no provider is set up' })
    expect(error.hint).toContain('cass setup')
    expect(error.hint).toContain('--demo')
    expect(failure({ config: { show_reasoning: true } }, {}, { FIREWORKS_API_KEY: ' ' })).toBe('no_provider')
    expect(failure({ providers: [], models: [] })).toBe('no_provider')
  })

  test.each<[string, Files, ConfigOverrides, string]>([
    ['the default provider', { config: { default_provider: 'groq' }, providers: [openai, groq] }, {}, 'groq'],
    [
      'the deprecated provider when it is registered',
      { config: { provider: 'groq' }, providers: [openai, groq] },
      {},
      'groq',
    ],
    [
      'the owner of the default model by its list',
      { config: { default_model: 'llama' }, providers: [openai, groq] },
      {},
      'groq',
    ],
    [
      'the owner of the deprecated model',
      { config: { model: 'gpt' }, providers: [openai, groq] },
      {},
      'openai',
    ],
    [
      'the owner of the requested model by models.json',
      { providers: [openai, groq], models: [model('x', 'groq')] },
      { model: 'x' },
      'groq',
    ],
    ['fireworks for a model of nobody', { providers: [openai, fireworks] }, { model: 'x' }, 'fireworks'],
    ['the only one for a model of nobody', { providers: [openai] }, { model: 'x' }, 'openai'],
    [
      'the default one for a model of nobody',
      { config: { default_provider: 'groq' }, providers: [openai, groq] },
      { model: 'x' },
      'groq',
    ],
    [
      'the default one for a model that it shares',
      { config: { default_provider: 'groq' }, providers: [openai, provider('groq', { models: ['gpt'] })] },
      { model: 'gpt' },
      'groq',
    ],
    [
      'the only owner of a model that the default one does not know',
      { config: { default_provider: 'groq' }, providers: [openai, groq] },
      { model: 'gpt' },
      'openai',
    ],
    [
      'the default one when several others have the model',
      { config: { default_provider: 'groq' }, providers: [openai, groq, provider('c', { models: ['gpt'] })] },
      { model: 'gpt' },
      'groq',
    ],
    [
      "the default one when the model of config.json is another's",
      { config: { default_provider: 'groq', default_model: 'gpt' }, providers: [openai, groq] },
      {},
      'groq',
    ],
    [
      'a blank default counting as none',
      { config: { default_provider: ' ' }, providers: [openai] },
      {},
      'openai',
    ],
  ])('is %s', (_name, given, overrides, expected) => {
    expect(resolve(given, overrides).provider).toBe(expected)
  })

  test.each<[string, Files, ConfigOverrides, string]>([
    [
      'a default provider that is not registered',
      { config: { default_provider: 'gone' } },
      {},
      'provider_not_found',
    ],
    [
      'a default provider that is not registered, with a key alone',
      { config: { default_provider: 'gone' } },
      { api_key_env: 'K' },
      'provider_not_found',
    ],
    [
      'a model whose provider is not registered',
      { providers: [openai, groq], models: [model('x', 'gone')] },
      { model: 'x' },
      'provider_not_found',
    ],
    [
      'a model of several providers',
      { providers: [openai, groq], models: [model('x', 'openai'), model('x', 'groq')] },
      { model: 'x' },
      'model_ambiguous',
    ],
    [
      'several providers and no way to choose',
      { providers: [openai, groq] },
      { model: 'x' },
      'provider_ambiguous',
    ],
    [
      'a provider of a kind of other programs',
      { providers: [provider('c', { kind: 'chatgpt-codex' })] },
      {},
      'provider_kind_unsupported',
    ],
    [
      'a local provider of another kind',
      { providers: [provider('c', { kind: 'cassady-api', base_url: 'http://localhost:1/v1' })] },
      {},
      'provider_kind_unsupported',
    ],
    [
      'a base URL that is none',
      { providers: [provider('c', { base_url: 'api.example' })] },
      {},
      'base_url_invalid',
    ],
    [
      'a base URL with a password',
      { providers: [provider('c', { base_url: 'https://a:b@c.example' })] },
      {},
      'base_url_invalid',
    ],
    ['a provider without a key', { providers: [provider('c', { key: '' })] }, {}, 'api_key_invalid'],
    ['a provider that stands twice', { providers: [openai, openai] }, { model: 'gpt' }, 'duplicate_provider'],
    ['an empty --model', {}, { model: ' ' }, 'model_empty'],
    ['a --base-url that is none', {}, { base_url: 'ftp://x' }, 'base_url_invalid'],
    ['a key in place of a variable name', {}, { api_key_env: 'sk-1' }, 'api_key_env_invalid'],
  ])('is an error for %s', (_name, given, overrides, expected) => {
    expect(failure(given, overrides)).toBe(expected)
  })
})

test("the model that nobody named is the provider's own", () => {
  const own = provider('own', { default_model: 'first', models: ['second'] })
  const config = { default_provider: 'own' }
  const models = [model('third', 'own'), model('gpt', 'openai')]
  expect(resolve({ config, providers: [own], models }).model).toBe('first')
  expect(resolve({ config, providers: [{ ...own, default_model: ' ' }], models }).model).toBe('second')
  expect(resolve({ config, providers: [provider('own')], models }).model).toBe('third')
  expect(resolve({ config, providers: [provider('own')], models: [] }).model).toBe(
    'accounts/fireworks/models/qwen3p7-plus',
  )
})

describe('the connection', () => {
  const chosen = {
    config: { default_provider: 'openai' },
    providers: [openai, fireworks],
    models: [model('gpt', 'openai')],
  }

  test('keeps provider, URL and metadata when only the key is given', () => {
    const expected = {
      provider: 'openai',
      url: 'https://api.openai.com/v1',
      key: '$MINE',
      model: 'gpt',
      known: true,
    }
    expect(resolve(chosen, { api_key_env: 'MINE' })).toEqual(expected)
    expect(resolve({ ...chosen, config: { default_model: 'gpt' } }, { api_key_env: 'MINE' })).toEqual(
      expected,
    )
  })

  test('keeps the key when only the path of the URL changes', () => {
    const url = 'https://api.openai.com/v2'
    expect(resolve(chosen, { base_url: url })).toMatchObject({
      provider: 'openai',
      url,
      key: '$OPENAI_KEY',
      known: true,
    })
  })

  test.each([
    'https://evil.example/v1',
    'http://api.openai.com/v1',
    'https://api.openai.com:8443/v1',
    'https://api.openai.com.evil.example/v1',
    'https://openai.com/v1',
  ])('never takes a stored key to %s', (base_url) => {
    expect(failure(chosen, { base_url })).toBe('key_host_mismatch')
    const literal = { config: { default_provider: 'a' }, providers: [provider('a', { key: 'sk-secret' })] }
    const error = errorOf(() => resolve(literal, { base_url }))
    expect(error.code).toBe('key_host_mismatch')
    expect(error.hint).toContain('--api-key-env')
  })

  test('takes a stored key of the untouched defaults nowhere either', () => {
    expect(failure({}, { base_url: 'http://x.example' })).toBe('key_host_mismatch')
    expect(failure({}, { base_url: 'http://x.example' }, {})).toBe('key_host_mismatch')
  })

  test('takes a key elsewhere when --api-key-env says so', () => {
    const base_url = 'https://proxy.example/v1'
    const expected = { provider: 'openai', url: base_url, key: '$MINE', known: true }
    expect(resolve(chosen, { base_url, api_key_env: 'MINE' })).toMatchObject(expected)
  })

  test.each(['http://localhost:1/v1', 'http://127.0.0.1:1', 'http://[::1]:1/', 'http://a.localhost'])(
    'uses the local server %s without the stored key',
    (base_url) => {
      expect(resolve(chosen, { base_url })).toMatchObject({
        provider: 'openai',
        url: base_url,
        key: '<no API key>',
      })
    },
  )

  test('gives a local server the key that was stored for it', () => {
    const local = { providers: [provider('l', { base_url: 'http://localhost:1/v1', key: '$L' })] }
    expect(resolve(local)).toMatchObject({ key: '$L' })
    const open = { providers: [provider('l', { base_url: 'http://localhost:1/v1', key: '' })] }
    expect(resolve(open)).toMatchObject({ key: '<no API key>' })
  })

  test('with a local URL needs no set-up, and does not pass for the built-in provider', () => {
    const base_url = 'http://127.0.0.1:9/v1'
    const expected = { provider: 'legacy-openai-compatible', url: base_url, model: 'm', known: false }
    expect(resolve({}, { base_url, model: 'm' }, {})).toEqual({ ...expected, key: '<no API key>' })
    expect(resolve({}, { base_url, model: 'm', api_key_env: 'K' }, {})).toEqual({ ...expected, key: '$K' })
  })

  test("follows the model to its provider and that provider's own key", () => {
    const given = { config: { default_provider: 'fireworks' }, providers: [openai, fireworks] }
    expect(resolve(given, { model: 'gpt' })).toMatchObject({ provider: 'openai', key: '$OPENAI_KEY' })
    expect(failure(given, { model: 'gpt', base_url: fireworks.base_url })).toBe('key_host_mismatch')
  })
})

describe('the deprecated fields of config.json', () => {
  const base_url = 'https://old.example/v1'

  test('still make a connection of their own', () => {
    const config = { provider: 'openai-compatible', model: 'm', base_url, api_key_env: 'LEGACY_API_KEY' }
    expect(resolve({ config })).toEqual({
      provider: 'openai-compatible',
      url: base_url,
      key: '$LEGACY_API_KEY',
      model: 'm',
      known: false,
    })
    expect(resolve({ config: { base_url, api_key_env: 'K' } }).provider).toBe('legacy-openai-compatible')
  })

  test('keep their key from the URL of the command line', () => {
    const config = { base_url, api_key_env: 'K' }
    expect(failure({ config }, { base_url: 'https://evil.example' })).toBe('key_host_mismatch')
    expect(
      failure(
        { config: { default_provider: 'gone', api_key_env: 'K' } },
        { base_url: 'https://evil.example' },
      ),
    ).toBe('key_host_mismatch')
  })

  test('change only their half of the chosen provider', () => {
    const providers = [openai, groq]
    expect(resolve({ config: { default_model: 'gpt', api_key_env: 'K' }, providers })).toMatchObject({
      provider: 'openai',
      url: openai.base_url,
      key: '$K',
    })
    expect(failure({ config: { default_model: 'gpt', base_url }, providers })).toBe('key_host_mismatch')
    expect(failure({ config: { default_model: 'gpt', api_key_env: 'GROQ_KEY' }, providers })).toBe(
      'key_host_mismatch',
    )
  })

  test('count for nothing once a default provider is chosen', () => {
    const config = {
      default_provider: 'openai',
      base_url,
      api_key_env: 'K',
      model: 'old',
      default_model: 'gpt',
    }
    expect(resolve({ config, providers: [openai] })).toMatchObject({
      url: openai.base_url,
      key: '$OPENAI_KEY',
      model: 'gpt',
    })
  })

  test('stand in for a default provider that is not registered', () => {
    const config = { default_provider: 'gone', base_url, api_key_env: 'K' }
    expect(resolve({ config })).toMatchObject({ provider: 'gone', url: base_url, key: '$K' })
  })

  test('send no key of another provider to their URL', () => {
    expect(failure({ config: { provider: 'corp', base_url } })).toBe('api_key_invalid')
  })
})

describe('the preferences', () => {
  const preferencesOf = (given: Files, overrides: ConfigOverrides = {}) => {
    const {
      provider: _provider,
      key: _key,
      metadata: _metadata,
      stray_provider: _stray,
      settings: _settings,
      ...rest
    } = resolveConfig({ files: files(given), overrides, env })
    return rest
  }

  test('have the defaults of the contract', () => {
    expect(preferencesOf({})).toEqual({
      model: 'accounts/fireworks/models/qwen3p7-plus',
      reasoning_effort: 'medium',
      access_mode: 'read-only',
      context_message_limit: 80,
      model_tool_result_limit: 24000,
      show_reasoning: false,
      confirm_destructive_operations: false,
    })
  })

  test('come from the command line first, then from config.json', () => {
    const config = {
      default_access_mode: 'workspace-edit',
      default_reasoning_effort: 'low',
      context_message_limit: 0,
      model_tool_result_limit: 5,
      show_reasoning: true,
      confirm_destructive_operations: true,
    } as const
    const fromFile = {
      reasoning_effort: 'low',
      access_mode: 'workspace-edit',
      context_message_limit: 1,
      model_tool_result_limit: 5,
    }
    expect(preferencesOf({ config })).toMatchObject({
      ...fromFile,
      show_reasoning: true,
      confirm_destructive_operations: true,
    })
    expect(preferencesOf({ config }, { access_mode: 'full-access', reasoning_effort: 'high' })).toMatchObject(
      {
        access_mode: 'full-access',
        reasoning_effort: 'high',
      },
    )
  })

  test('bring the effort to what the model allows', () => {
    expect(
      preferencesOf({ config: { default_reasoning_effort: 'high' } }, { model: 'unknown' }).reasoning_effort,
    ).toBe('off')
  })
})

test('a resolved configuration holds a reference and no key', () => {
  const given = files({ providers: [provider('a', { key: 'sk-secret' })] })
  const resolved = resolveConfig({ files: given, overrides: {}, env })
  expect(resolved.key).toBeInstanceOf(KeyReference)
  expect(JSON.stringify(resolved)).not.toContain('secret')
})
