import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AbortedAnswer, type ModelEvent } from '../../../../sources/agent/model.ts'
import { makeOpenAiModel } from '../../../../sources/agent/provider/openAiModel.ts'
import { noProxies } from '../../../../sources/agent/provider/proxies.ts'
import { makeTestModel, rejection, simpleRequest, startScripted } from './_provider.ts'

/** A server that takes connections and says nothing, or what `greet` writes. */
async function startTcp(greet: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    greet(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('Assertion failed: no port')
  return address.port
}

const quick = { maxRetries: 0, timeouts: { connectSeconds: 5, idleSeconds: 0.5 } }

describe('time limits', () => {
  test('end a request whose headers never come', async () => {
    const provider = await startScripted([{ hang: true }])
    expect(await rejection(makeTestModel(provider.url, quick).ask())).toMatchObject({
      code: 'provider_timeout',
      message: `provider '127.0.0.1:${provider.port}' was silent for 0.5 s`,
      partial: null,
    })
    expect(await provider.chats[0]?.closed).toBe(true)
  })

  test('end a stream that falls silent, and keep what came', async () => {
    const provider = await startScripted([{ steps: [{ text: 'Hel' }, { act: 'stall' }] }])
    expect(await rejection(makeTestModel(provider.url, quick).ask())).toMatchObject({
      code: 'provider_timeout',
      partial: { text: 'Hel' },
    })
    expect(await provider.chats[0]?.closed).toBe(true)
  })

  test('of months are no limit of a moment', async () => {
    const { url } = await startScripted(['Hello'])
    const timeouts = { connectSeconds: 5, idleSeconds: 1e7 }
    expect(await makeTestModel(url, { timeouts }).ask()).toMatchObject({ text: 'Hello' })
  })

  test('count silence, not the length of the answer, and comments are no silence', async () => {
    const ping = [{ comment: 'ping' }, { pauseMs: 110 }]
    const { url } = await startScripted([
      { steps: [...ping, ...ping, ...ping, ...ping, ...ping, ...ping], text: 'Hello' },
    ])
    expect(await makeTestModel(url, quick).ask()).toMatchObject({ text: 'Hello' })
  })

  test('end a connection that is taken but never made', async () => {
    const port = await startTcp(() => undefined)
    const limits = { maxRetries: 0, timeouts: { connectSeconds: 0.2, idleSeconds: 30 } }
    expect(await rejection(makeTestModel(`https://127.0.0.1:${port}/v1`, limits).ask())).toMatchObject({
      code: 'provider_timeout',
      message: expect.stringContaining('did not accept a connection in time'),
    })
  })
})

describe('connections', () => {
  test('that are refused are told with their cause and not tried again', async () => {
    const provider = await startScripted([])
    await provider.close()
    const { ask, waits } = makeTestModel(provider.url)
    expect(await rejection(ask())).toMatchObject({
      code: 'provider_refused_connection',
      message: expect.stringMatching(
        /^provider '127\.0\.0\.1:\d+' refused the connection: nothing listens there \(ECONNREFUSED: connect ECONNREFUSED/,
      ),
    })
    expect(waits).toEqual([])
  })

  test('to a server without TLS are told as that', async () => {
    const provider = await startScripted([])
    const url = provider.url.replace('http:', 'https:')
    expect(await rejection(makeTestModel(url).ask())).toMatchObject({
      code: 'provider_refused_connection',
      message: expect.stringContaining("write 'http://'"),
    })
  })

  test('to something that is not HTTP are a bad answer', async () => {
    const port = await startTcp((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    expect(await rejection(makeTestModel(`http://127.0.0.1:${port}/v1`).ask())).toMatchObject({
      code: 'provider_bad_answer',
      message: expect.stringContaining('does not speak HTTP'),
    })
  })

  test('go through the proxy that is set, by its own name resolution', async () => {
    const provider = await startScripted(['Hello'])
    const seen: Array<string> = []
    const port = await startTcp((socket) => {
      socket.once('data', (bytes) => {
        seen.push(bytes.toString('latin1').split('\r\n')[0] ?? '')
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        const onward = new (socket.constructor as typeof Socket)()
        onward.connect(provider.port, '127.0.0.1')
        onward.on('error', () => socket.destroy())
        socket.pipe(onward).pipe(socket)
      })
    })
    const proxies = { http: `http://127.0.0.1:${port}`, https: '', none: '' }
    expect(await makeTestModel('http://provider.test/v1', { proxies }).ask()).toMatchObject({ text: 'Hello' })
    expect(seen).toEqual(['CONNECT provider.test:80 HTTP/1.1'])
    expect(provider.chats[0]?.headers.host).toBe('provider.test')
  })

  test('to this machine go past the proxy', async () => {
    const { url } = await startScripted(['Hello'])
    const proxies = { http: 'http://127.0.0.1:1', https: 'http://127.0.0.1:1', none: '' }
    expect(await makeTestModel(url, { proxies }).ask()).toMatchObject({ text: 'Hello' })
  })

  test('through a proxy whose address is none are refused, without showing it', async () => {
    const proxies = { http: 'http://me:hidden@[', https: '', none: '' }
    const caught = await rejection(makeTestModel('http://provider.test/v1', { proxies }).ask())
    expect(caught).toMatchObject({
      code: 'provider_refused_connection',
      hint: expect.stringContaining('HTTP_PROXY'),
    })
    expect(inspect(caught, { depth: 9 })).not.toContain('hidden')
  })

  test('through a proxy that is not there say so', async () => {
    const proxies = { http: 'http://127.0.0.1:1', https: '', none: '' }
    expect(await rejection(makeTestModel('http://provider.test/v1', { proxies }).ask())).toMatchObject({
      code: 'provider_refused_connection',
      message: expect.stringContaining("'provider.test'"),
    })
  })
})

describe('an abort', () => {
  test('before the request sends none', async () => {
    const provider = await startScripted(['Hello'])
    expect(await rejection(makeTestModel(provider.url).ask({}, AbortSignal.abort()))).toBeInstanceOf(
      AbortedAnswer,
    )
    expect(provider.requests).toEqual([])
  })

  test('before the headers ends the request', async () => {
    const provider = await startScripted([{ hang: true }])
    const user = new AbortController()
    const answer = rejection(makeTestModel(provider.url).ask({}, user.signal))
    await provider.waitForRequests(1)
    user.abort()
    expect(await answer).toMatchObject({ partial: { text: '', reasoning: '' } })
    expect(await answer).toBeInstanceOf(AbortedAnswer)
    expect(await provider.chats[0]?.closed).toBe(true)
  })

  test('in the answer keeps what came', async () => {
    const provider = await startScripted([
      { steps: [{ reasoning: 'hm' }, { text: 'Hel' }, { act: 'stall' }] },
    ])
    const user = new AbortController()
    const emit = (event: ModelEvent) => {
      if (event.type === 'text') user.abort()
    }
    const caught = await rejection(realModel(provider.url)(simpleRequest, { signal: user.signal, emit }))
    expect(caught).toBeInstanceOf(AbortedAnswer)
    expect(caught).toMatchObject({
      partial: { text: 'Hel', reasoning: 'hm', reasoning_field: 'reasoning_content', usage: null },
    })
    expect(await provider.chats[0]?.closed).toBe(true)
  })

  test('while waiting for the next try ends the wait at once', async () => {
    const provider = await startScripted([{ status: 429, headers: { 'retry-after': '60' } }, 'Hello'])
    const user = new AbortController()
    const emit = (event: ModelEvent) => {
      // The status comes before the wait of 60 s, which is a real one here.
      if (event.type === 'status') setImmediate(() => user.abort())
    }
    const caught = await rejection(realModel(provider.url)(simpleRequest, { signal: user.signal, emit }))
    expect(caught).toBeInstanceOf(AbortedAnswer)
    expect(provider.chats).toHaveLength(1)
  })
})

/** A model with the waits of the program. */
function realModel(baseUrl: string) {
  return makeOpenAiModel({
    baseUrl,
    key: null,
    maxRetries: 4,
    timeouts: { connectSeconds: 5, idleSeconds: 300 },
    proxies: noProxies,
    supportsTools: true,
    supportsStreaming: true,
    userAgent: 'cass/test',
    makeCallId: () => 'fresh',
    now: () => 0,
    random: () => 0.5,
  })
}

describe('the size of an answer', () => {
  test('has an end, and what came until then is kept', async () => {
    const million = 'x'.repeat(2 ** 20)
    const provider = await startScripted([{ steps: Array.from({ length: 34 }, () => ({ text: million })) }])
    const error = await rejection(makeTestModel(provider.url, { maxRetries: 0 }).ask())
    expect(error).toMatchObject({ code: 'provider_bad_answer' })
    expect(error).toHaveProperty('partial.text.length', 33 * 2 ** 20)
    expect(await provider.chats[0]?.closed).toBe(true)
  })
})
