import { chmodSync, renameSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfigFiles } from '../../../sources/config/files.ts'
import { nearestField } from '../../../sources/config/nearestField.ts'
import { resolveConfig } from '../../../sources/config/resolve.ts'
import { check, linesOf } from './_checks.ts'
import { makeHome } from './_config.ts'

const provider = {
  ...{ id: 'a', kind: 'openai-compatible', base_url: 'https://a.example/v1', api_key: '$A_KEY' },
  default_model: 'm',
}
const model = { id: 'm', provider: 'a' }
const homeWith = (changes: object, models: object[] = [model]) =>
  makeHome({
    'config.json': { default_provider: 'a' },
    'providers.json': { providers: [{ ...provider, ...changes }] },
    'models.json': { models },
  })
const env = { A_KEY: 'k' }

/** What a turn says where `check` has the finding. */
async function errorOfRun(root: string) {
  const files = await readConfigFiles(root)
  try {
    resolveConfig({ files, overrides: {}, env })
  } catch (error) {
    return error
  }
  return null
}

describe('the next step', () => {
  test.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a person writes into the file
    ['${MY_KEY}', 'edit ~/.cass/providers.json: write $MY_KEY, without braces'],
    ['$sk-pasted', "edit ~/.cass/providers.json: write $ and a variable's name"],
    ['$MY_KEY', 'export MY_KEY=...'],
  ])('for the reference %s is one that works', async (api_key, step) => {
    const report = await check(homeWith({ api_key }))
    expect(report.ok).toBe(false)
    expect(report.next_steps[0]).toBe(step)
    expect(report.next_steps).toContain('cass check')
  })

  test('after a probe that failed is not the same check again', async () => {
    const listModels = () => Promise.reject(new Error('refused'))
    const report = await check(homeWith({}), { env, probes: { listModels, limitMs: 1000 } })
    expect(report.next_steps).toEqual([
      'start the server, or correct its base_url and key in ~/.cass/providers.json',
      'cass check --probe',
    ])
  })
})

describe('one mistake', () => {
  test('in a base URL is not told as a missing key too', async () => {
    const { api_key: _key, ...keyless } = provider
    const root = makeHome({
      'providers.json': { providers: [{ ...keyless, base_url: 'localhost:8080/v1' }] },
    })
    const { findings } = await check(root)
    expect(findings.map(({ code }) => code)).toContain('base_url_invalid')
    expect(findings.filter(({ code }) => code === 'api_key_invalid')).toEqual([])
  })

  test('in the name of a field is told first, with the name that was meant', async () => {
    const { base_url, ...rest } = provider
    const root = makeHome({ 'providers.json': { providers: [{ ...rest, base_ulr: base_url }] } })
    const errors = (await check(root)).findings.filter(({ severity }) => severity === 'error')
    expect(errors.map(({ message, hint }) => [message, hint])).toEqual([
      [
        "providers.json: providers[0].base_ulr: unknown field; did you mean 'base_url'?",
        "write 'base_url', or remove it",
      ],
      ['providers.json: providers[0].base_url: is required', 'add the field'],
    ])
  })

  test('in a kind gets the same advice from check and from a turn', async () => {
    const root = homeWith({ kind: 'openai' })
    const found = (await check(root, { env })).findings.find(
      ({ code }) => code === 'provider_kind_unsupported',
    )
    expect(found?.hint).toBe("write 'openai-compatible'")
    expect(await errorOfRun(root)).toMatchObject({
      ...{ code: 'provider_kind_unsupported', hint: expect.stringContaining("write 'openai-compatible'") },
    })
  })

  test('in the provider of a model is known to check and to a turn', async () => {
    const root = homeWith({}, [{ id: 'm', provider: 'gone' }])
    expect(linesOf(await check(root, { env }))).toContain(
      "error model_provider_unknown models.json: models[0].provider: the provider 'gone' is not in providers.json",
    )
    const files = await readConfigFiles(root)
    const resolved = (changes: object) =>
      resolveConfig({ files: { ...files, ...changes }, overrides: {}, env })
    expect(resolved({}).stray_provider).toBe('gone')
    const known = files.models.map((each) => ({ ...each, provider: 'a' }))
    expect(resolved({ models: [...files.models, ...known] }).stray_provider).toBeNull()
  })
})

describe('a key', () => {
  test.each([
    ['$A_KEY', '"sk-secret"', 'A_KEY has quotes around it'],
    ["'sk-secret'", 'k', 'the literal value has quotes around it'],
  ])('of %s with quotes around it is a finding', async (api_key, value, message) => {
    const report = await check(homeWith({ api_key }), { env: { A_KEY: value } })
    expect(linesOf(report)).toContain(`warning api_key_quoted api key: ${message}`)
    expect(JSON.stringify(report)).not.toContain('sk-secret')
  })

  test('without quotes is none', async () => {
    const report = await check(homeWith({}), { env: { A_KEY: `s"k'` } })
    expect(report.findings.map(({ code }) => code)).not.toContain('api_key_quoted')
  })
})

describe('a loose file', () => {
  const permissions = async (root: string) =>
    (await check(root, { env })).findings.flatMap(({ code, subject }) =>
      code.endsWith('_permissions') ? [subject] : [],
    )

  test('in a folder that is closed to others is no finding, in an open one it is', async () => {
    const root = homeWith({})
    chmodSync(path.join(root, 'providers.json'), 0o644)
    chmodSync(root, 0o700)
    expect(await permissions(root)).toEqual([])
  })

  test('in an open folder is one', async () => {
    const root = homeWith({})
    chmodSync(path.join(root, 'providers.json'), 0o644)
    chmodSync(root, 0o755)
    expect(await permissions(root)).toEqual(['~/.cass', '~/.cass/providers.json'])
  })

  test('behind a link out of a closed folder is one', async () => {
    const root = homeWith({})
    const real = path.join(path.dirname(root), 'elsewhere.json')
    renameSync(path.join(root, 'providers.json'), real)
    chmodSync(real, 0o644)
    symlinkSync(real, path.join(root, 'providers.json'))
    chmodSync(root, 0o700)
    expect(await permissions(root)).toEqual(['~/.cass/providers.json'])
  })
})

describe('a probe that does not list the model', () => {
  test('names ten of those that there are', async () => {
    const ids = Array.from({ length: 12 }, (_, at) => `m-${at}`)
    const probes = { listModels: async () => ids, limitMs: 1000 }
    const { findings } = await check(homeWith({}), { env, probes })
    const { hint } = findings.find(({ code }) => code === 'model_not_listed')!
    expect(hint).toContain(`: ${ids.slice(0, 10).join(', ')}, …`)
    expect(hint).not.toContain('m-10')
  })
})

test.each([
  ['base_ulr', 'base_url'],
  ['baseurl', 'base_url'],
  ['Base_URL', 'base_url'],
  ['kidn', 'kind'],
  ['x', null],
  ['url', null],
  ['idd', null],
])('the field nearest to %s is %s', (typed, meant) => {
  expect(nearestField(typed, ['id', 'kind', 'base_url', 'api_key'])).toBe(meant)
})
