import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { inspectConfigFiles, readConfigFiles } from '../../../sources/config/files.ts'
import { resolveKey } from '../../../sources/config/key.ts'
import { resolveConfig } from '../../../sources/config/resolve.ts'
import { CassError } from '../../../sources/errors.ts'
import { check } from './_checks.ts'
import { makeHome } from './_config.ts'

const secret = 'sk-SECRET-0123456789'
const entry = { id: 'a', kind: 'openai-compatible', base_url: 'https://a.example/v1', api_key: secret }
const whole = JSON.stringify({ providers: [entry] }, null, 2)

/** Files that hold the key, sound and damaged in every way that could make a message quote it. */
const homes: ReadonlyArray<[string, Readonly<Record<string, unknown>>]> = [
  ['sound', { 'providers.json': whole }],
  ['cut behind the key', { 'providers.json': whole.slice(0, whole.indexOf(secret) + secret.length) }],
  ['cut within the key', { 'providers.json': whole.slice(0, whole.indexOf(secret) + 9) }],
  ['the key without quotes', { 'providers.json': whole.replace(`"${secret}"`, secret) }],
  ['the key in single quotes', { 'providers.json': whole.replace(`"${secret}"`, `'${secret}'`) }],
  ['the key in a list', { 'providers.json': { providers: [{ ...entry, api_key: [secret] }] } }],
  [
    'the key as the kind of a faulty entry',
    { 'providers.json': { providers: [{ ...entry, models: secret }] } },
  ],
  ['the key as an entry', { 'providers.json': { providers: [secret] } }],
  ['the key as the file', { 'providers.json': JSON.stringify(secret) }],
  ['the key in an unknown field', { 'providers.json': { providers: [{ ...entry, apikey: secret }] } }],
  ['the key as the base URL', { 'providers.json': { providers: [{ ...entry, base_url: secret }] } }],
  [
    'the key in the base URL',
    {
      'providers.json': { providers: [{ ...entry, base_url: `https://u:${secret}@a.example/?k=${secret}` }] },
    },
  ],
  [
    'the key in the query',
    { 'providers.json': { providers: [{ ...entry, base_url: `https://a.example/?k=${secret}` }] } },
  ],
  [
    'the key behind a dollar sign',
    { 'providers.json': { providers: [{ ...entry, api_key: `$${secret}` }] } },
  ],
  ['the key with a line break', { 'providers.json': { providers: [{ ...entry, api_key: `${secret}\nx` }] } }],
  ['the key as a variable name', { 'config.json': { base_url: 'https://b.example', api_key_env: secret } }],
  ['the key as an effort', { 'config.json': { default_reasoning_effort: secret } }],
]

test.each(homes)('no error, finding, JSON or inspect output shows the key: %s', async (_name, content) => {
  const root = makeHome(content)
  const shown: unknown[] = [await check(root), (await inspectConfigFiles(root)).providers]
  try {
    const files = await readConfigFiles(root)
    shown.push(files)
    for (const overrides of [{}, { base_url: 'https://b.example' }]) {
      const resolved = resolveConfig({ files, overrides, env: {} })
      shown.push(resolved.key, resolved.settings, resolveKey(resolved.key, {}))
    }
  } catch (error) {
    expect(error).toBeInstanceOf(CassError)
    shown.push(error, error instanceof CassError ? [error.message, error.hint, error.data] : null)
  }
  const text = shown
    .map((one) => `${String(one)}\n${JSON.stringify(one)}\n${inspect(one, { depth: 20, showHidden: true })}`)
    .join('\n')
  // The fields themselves are kept: a request needs the URL. Only what is said about them must be free of secrets.
  const withoutUrls = text.replaceAll(/(?:base_url|api_key_env)"?: ?["'][^"']*["']/g, '')
  expect(withoutUrls).not.toContain(secret.slice(3, 9))
})
