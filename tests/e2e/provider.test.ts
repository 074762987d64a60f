import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect } from 'vitest'
import type { Reply } from '../../fixtures/provider/server.mjs'
import { checkedEvents } from './_events.ts'
import { everythingIn, key, test, type World } from './_world.ts'

/** Runs a turn that the provider spoils, and looks at all that it left. */
async function fail(world: World, script: Reply[], options: { env?: Record<string, string> } = {}) {
  world.provider.setScript(script)
  const { exitCode, stdout, stderr } = await world.run(['run', '--json', 'x'], options)
  const events = checkedEvents(stdout)
  expect({ exitCode, end: events.at(-1)?.stop_reason }).toEqual({ exitCode: 1, end: 'error' })
  expect(stdout + stderr + everythingIn(world.cassHome)).not.toContain(key)
  return events
}

async function goOn(world: World) {
  world.settings({})
  world.provider.setScript(['Fine now.'])
  expect(await world.ok(['run', '-c', 'again'])).toBe('Fine now.')
}

const echo = (status: number): Reply => ({
  status,
  body: { error: { message: `no: Bearer ${key} was sent`, code: 'x' } },
})

const errorEvent: Reply = { steps: [{ error: { message: 'no luck' } }] }

describe.concurrent('a provider that fails', () => {
  test.for<[string, Reply[], string, RegExp]>([
    ['refuses the key', [echo(401)], 'provider_auth', /refused the key \(401\)/],
    ['does not know the model', [echo(404)], 'provider_not_found', /\(404\)/],
    [
      'answers with a page',
      [
        {
          status: 200,
          headers: { 'content-type': 'text/html' },
          body: '<html><title>Sign in</title></html>',
        },
      ],
      'provider_bad_answer',
      /Sign in|HTML/,
    ],
    ['cuts the stream', [{ steps: [{ text: 'Half' }, { act: 'drop' }] }], 'provider_cut_stream', /./],
    ['fails always', [500, 502, 503].map(echo), 'provider_unavailable', /\(503\).*tried 3 times/],
    ['sends an error in its stream', Array(3).fill(errorEvent), 'provider_unavailable', /no luck/],
    ['falls silent', [{ steps: [{ text: 'Half' }, { act: 'stall' }] }], 'provider_timeout', /./],
    ['never answers', [{ hang: true }, { hang: true }, { hang: true }], 'provider_timeout', /./],
  ])('and %s ends the turn with a clear error', async ([, script, code, message], { world }) => {
    const isSilent = code === 'provider_timeout'
    world.settings({ retries: 2, ...(isSilent ? { requestTimeouts: { idleSeconds: 0.5 } } : {}) })
    const events = await fail(world, script)
    const error = events.find(({ type }) => type === 'error')
    expect(error).toMatchObject({ code, hint: expect.stringMatching(/^[a-z]/) })
    expect(error?.message).toMatch(message)
    expect(error?.message).toContain(`127.0.0.1:${world.provider.port}`)
    await goOn(world)
  })

  test('in text says so on stderr, and keeps what had come', async ({ world }) => {
    world.provider.setScript([{ steps: [{ text: 'Half' }, { act: 'drop' }] }])
    const { exitCode, stdout, stderr } = await world.run(['run', 'x'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: 'Half\n' })
    expect(stderr).toMatch(/error: provider '127\.0\.0\.1:\d+' .*\nhint: run the turn again/)
    await goOn(world)
    expect(JSON.stringify(world.bodies().at(-1).messages)).toContain('Half')
  })

  test('and is not there is named', async ({ world }) => {
    const { port } = world.provider
    await world.provider.close()
    const { exitCode, stderr } = await world.run(['run', 'x'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`provider '127.0.0.1:${port}' refused the connection`)
    expect(stderr).toMatch(/hint: check 'base_url'/)
  })

  test('for a moment is asked again, as it wishes', async ({ world }) => {
    world.provider.setScript([
      { status: 429, headers: { 'retry-after': '0.01' }, body: {} },
      echo(500),
      'Ok.',
    ])
    const { exitCode, stdout, stderr } = await world.run(['run', '--json', 'x'])
    expect(exitCode).toBe(0)
    const texts = checkedEvents(stdout).flatMap(({ type, text }) => (type === 'status' ? [text] : []))
    expect(texts).toEqual([expect.stringMatching(/429.*as it asked/), expect.stringMatching(/500/)])
    expect(world.bodies()).toHaveLength(3)
    expect(stdout + stderr + everythingIn(world.cassHome)).not.toContain(key)
  })

  test('because of a missing key is not asked at all', async ({ world }) => {
    const { exitCode, stdout, stderr } = await world.run(['run', 'x'], { env: { SCRIPTED_KEY: '' } })
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/SCRIPTED_KEY/)
    expect(world.bodies()).toEqual([])
  })

  test('to be there at all: the error names the set-up and the demo', async ({ world }) => {
    const env = { CASS_HOME: `${world.folder}/empty` }
    const { exitCode, stdout, stderr } = await world.run(['run', 'x'], { env })
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain('cass setup')
    expect(stderr).toContain('--demo')
    const json = JSON.parse((await world.run(['run', '--json', 'x'], { env })).stdout)
    expect(Object.keys(json)).toEqual(['error'])
  })
})

describe.concurrent('what is sent where', () => {
  test('a stored key goes to no other host than its own', async ({ world }) => {
    const url = world.provider.url.replace('127.0.0.1', 'localhost')
    const { stdout, stderr } = await world.run(['run', '--base-url', url, 'x'])
    expect(stdout + stderr).not.toContain(key)
    for (const { headers } of world.provider.chats) expect(headers.authorization).toBeUndefined()
    world.provider.setScript(['Ok.'])
    await world.ok(['run', '--base-url', url, '--api-key-env', 'SCRIPTED_KEY', 'x'])
    expect(world.provider.chats.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)
  })

  test('--model asks for another model, which the chat then names', async ({ world }) => {
    world.provider.setScript(['Ok.'])
    await world.ok(['run', '--model', 'other', 'x'])
    expect(world.bodies()[0].model).toBe('other')
    expect((await world.json(['chats'])).chats[0].model).toBe('other')
  })

  test.for(['HTTP_PROXY', 'http_proxy'])('%s is obeyed, but for loopback', async (variable, { world }) => {
    const asked: string[] = []
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(502).end()
    })
    // Every name leads to the scripted provider.
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '')
      const upstream = connect(world.provider.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const env = { [variable]: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, NO_PROXY: '' }
    world.provider.setScript(['Direct.', 'Through.'])
    expect(await world.ok(['run', 'x'], { env })).toBe('Direct.')
    expect(asked).toEqual([])
    const args = ['--base-url', 'http://provider.invalid/v1', '--api-key-env', 'SCRIPTED_KEY', 'x']
    expect(await world.ok(['run', ...args], { env })).toBe('Through.')
    expect(asked).toEqual(['provider.invalid:80'])
    await new Promise((resolve) => proxy.close(resolve))
  })
})
