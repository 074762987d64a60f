import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startProvider } from '../../../fixtures/provider/server.mjs'
import { demoTurn, makePlace } from './_session.ts'

test('a turn tells that models.json gives its model to a provider that is not there', async () => {
  const provider = await startProvider()
  try {
    provider.setScript(['Hello.'])
    const place = makePlace()
    mkdirSync(place.root, { mode: 0o700 })
    const write = (name: string, value: unknown) =>
      writeFileSync(path.join(place.root, name), JSON.stringify(value), { mode: 0o600 })
    const entry = { id: 'a', kind: 'openai-compatible', base_url: provider.url, default_model: 'm' }
    write('providers.json', { providers: [entry] })
    write('models.json', { models: [{ id: 'm', provider: 'gone' }] })
    const { events } = await demoTurn(place, { target: { type: 'new' }, demo: false })
    const notices = events.filter((event) => event.type === 'notice')
    expect(notices).toMatchObject([{ code: 'model_provider_unknown', chat_id: null }])
    expect(notices[0]?.text).toContain("'gone'")
  } finally {
    await provider.close()
  }
})
