import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ApiKey, KeyReference, resolveKey } from '../../../sources/config/key.ts'
import { providerKeyVariables } from '../../../sources/config/keyVariables.ts'
import { errorOf, files, provider } from './_config.ts'

/** A variable written as shells allow it, but providers.json does not. */
const braced = '$' + '{NAME}'
const secret = 'sk-very-secret-1234'

describe('a key reference', () => {
  test.each([
    ['$NAME', 'variable', 'NAME', '$NAME'],
    [braced, 'variable', '{NAME}', braced],
    ['$sk-very-secret', 'variable', 'sk-very-secret', '$<unusual name>'],
    [secret, 'literal', null, '<literal API key>'],
    ['', 'none', null, '<no API key>'],
    ['$', 'invalid', null, '<invalid API key reference>'],
  ])('%j is a reference of its form, shown without a key', (text, form, variable, shown) => {
    const reference = new KeyReference(text)
    expect({ form: reference.form, variable: reference.variable, shown: String(reference) }).toEqual({
      form,
      variable,
      shown,
    })
  })

  test('gives the key of its variable or the literal, without blanks around it', () => {
    expect(resolveKey(new KeyReference('$NAME'), { NAME: ` ${secret}\n` })?.reveal()).toBe(secret)
    expect(resolveKey(new KeyReference(braced), { '{NAME}': secret })?.reveal()).toBe(secret)
    expect(resolveKey(new KeyReference(secret), {})?.reveal()).toBe(secret)
    expect(resolveKey(new KeyReference(''), {})).toBeNull()
  })

  test.each([
    ['$NAME', {}, 'api_key_missing', "missing API key environment variable 'NAME'"],
    ['$NAME', { NAME: ' ' }, 'api_key_empty', "API key environment variable 'NAME' is empty"],
    [
      '$NAME',
      { NAME: 'sk-\u0000x' },
      'api_key_invalid',
      "API key environment variable 'NAME' holds characters that no key can have",
    ],
    ['sk-ü', {}, 'api_key_invalid', 'the literal API key holds characters that no key can have'],
    ['$', {}, 'api_key_invalid', "the API key reference '$' names no variable"],
    ['$sk-very-secret', {}, 'api_key_missing', "missing API key environment variable '<unusual name>'"],
  ])('%j without a usable key is the error that says why', (text, env, code, message) => {
    expect(errorOf(() => resolveKey(new KeyReference(text), env))).toMatchObject({ code, message })
  })

  test('that was written with braces is told to lose them', () => {
    expect(errorOf(() => resolveKey(new KeyReference(braced), {})).hint).toBe("write '$NAME', without braces")
  })

  test('and the key itself are never shown by printing, JSON or inspecting', () => {
    for (const holder of [new KeyReference(secret), new ApiKey(secret)]) {
      const shown = [
        String(holder),
        `${holder}`,
        JSON.stringify({ holder }),
        inspect({ holder }, { depth: 9, showHidden: true }),
      ]
      expect(shown.join('\n')).not.toContain('secret')
    }
  })

  test('can take its key out of a text of others', () => {
    expect(new ApiKey(secret).redact(`bad key ${secret}, ${secret}`)).toBe('bad key <API key>, <API key>')
  })
})

test('the variables that hold keys are those of all providers, of config.json and of the command line', () => {
  const { config, providers } = files({
    config: { api_key_env: 'OLD' },
    providers: [provider('a'), provider('b', { key: secret }), provider('c', { key: '$A_KEY' })],
  })
  expect(providerKeyVariables({ config, providers, apiKeyEnv: 'MINE' })).toEqual(['A_KEY', 'MINE', 'OLD'])
})
