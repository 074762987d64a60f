import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parseEndpoint } from '../../sources/agent/provider/endpoint.ts'
import { parseProvidersFile } from '../../sources/config/providersFile.ts'
import { defaultSettings, parseSettingsFile } from '../../sources/config/settingsFile.ts'

const page = await readFile(new URL('../../docs/providers.md', import.meta.url), 'utf8')
const errors = await readFile(new URL('../../sources/agent/provider/errors.ts', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```json\n([^`]+)```/g)].map((match): unknown => JSON.parse(match[1] ?? ''))

test('the examples of docs/providers.md are files that cass reads without a fault', () => {
  expect(parseProvidersFile(blocks[0])).toMatchObject({
    faults: [],
    value: [{ id: 'openrouter' }, { id: 'local' }],
  })
  expect(parseSettingsFile(blocks[1])).toEqual({ faults: [], value: defaultSettings })
})

test('docs/providers.md lists every error code, and no other', () => {
  const codes = (text: string, pattern: RegExp) =>
    [...new Set([...text.matchAll(pattern)].map((match) => match[1]))].sort()
  const listed = codes(page, /^\| `(provider_\w+)`/gm)
  expect(listed.length).toBeGreaterThan(5)
  expect(listed).toEqual(codes(errors, /^ {2}\| '(provider_\w+)'/gm))
})

test('the addresses in docs/providers.md are base URLs', () => {
  const addresses = [...page.matchAll(/^\| [^|]+ \| `(https?:[^`]+)` \|$/gm)].map((match) => match[1] ?? '')
  expect(addresses.length).toBeGreaterThan(8)
  for (const address of addresses) expect(parseEndpoint(address).root).toBe(address)
})
