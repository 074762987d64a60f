import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { demoTurn, makePlace } from './_session.ts'

it("the shell of a demo sees the user's environment without keys", { timeout: 60_000 }, async () => {
  const secrets = {
    OPENAI_API_KEY: 'sk-secret-1',
    my_provider_api_key: 'sk-secret-2',
    GITHUB_TOKEN: 'ghp-secret-3',
    AWS_SECRET: 'secret-4',
  }
  const place = {
    ...makePlace(),
    env: { PATH: process.env.PATH ?? '', KEYBOARD: 'plain-1', API_KEY_FILE: 'plain-2', ...secrets },
  }
  writeFileSync(path.join(place.cwd, 'package.json'), '{"type":"commonjs"}')
  writeFileSync(
    path.join(place.cwd, 'env.test.js'),
    "require('node:test')('env', () => console.log(JSON.stringify(process.env)))",
  )
  const { events } = await demoTurn(place, {
    prompt: 'run the tests',
    target: { type: 'new' },
    approve: async () => ({ approved: true }),
  })
  const output = events.flatMap((event) => (event.type === 'tool_result' ? [event.content] : [])).join('\n')
  expect(output).toContain('plain-1')
  expect(output).toContain('plain-2')
  for (const [name, value] of Object.entries(secrets)) {
    expect(output).not.toContain(value)
    expect(output).not.toContain(`"${name}"`)
  }
})
