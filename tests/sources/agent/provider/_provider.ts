import { onTestFinished } from 'vitest'
import { type Provider, type Script, startProvider } from '../../../../fixtures/provider/server.mjs'
import type { Completion, ModelEvent, ModelRequest } from '../../../../sources/agent/model.ts'
import { makeOpenAiModel, type OpenAiModelOptions } from '../../../../sources/agent/provider/openAiModel.ts'
import { noProxies } from '../../../../sources/agent/provider/proxies.ts'

/** A scripted server that is closed when the test is over. */
export async function startScripted(script: Script): Promise<Provider> {
  const provider = await startProvider({ script })
  onTestFinished(() => provider.close())
  return provider
}

export interface TestModel {
  readonly ask: (request?: Partial<ModelRequest>, signal?: AbortSignal) => Promise<Completion>
  readonly events: ReadonlyArray<ModelEvent>
  readonly waits: ReadonlyArray<number>
  readonly texts: (type: ModelEvent['type']) => ReadonlyArray<string>
}

/** A model of that server. Waits between retries are not waited for, but listed. */
export function makeTestModel(baseUrl: string, options: Partial<OpenAiModelOptions> = {}): TestModel {
  const waits: Array<number> = []
  let calls = 0
  const model = makeOpenAiModel({
    baseUrl,
    key: 'sk-test-0123456789',
    maxRetries: 4,
    timeouts: { connectSeconds: 5, idleSeconds: 5 },
    proxies: noProxies,
    supportsTools: true,
    supportsStreaming: true,
    userAgent: 'cass/test',
    makeCallId: () => `fresh_${++calls}`,
    now: () => Date.parse('2026-01-01T00:00:00Z'),
    random: () => 1,
    sleep: async (ms) => {
      waits.push(ms)
    },
    ...options,
  })
  const events: Array<ModelEvent> = []
  const ask = (
    request: Partial<ModelRequest> = {},
    signal = new AbortController().signal,
  ): Promise<Completion> =>
    model({ ...simpleRequest, ...request }, { signal, emit: (event) => events.push(event) })
  return {
    ask,
    events,
    waits,
    texts: (type: ModelEvent['type']) =>
      events.filter((event) => event.type === type).map((event) => event.text),
  }
}

export const simpleRequest: ModelRequest = {
  model: 'scripted',
  messages: [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'hello' },
  ],
  tools: [],
  reasoning: null,
}

export const readTool = {
  name: 'read',
  description: 'reads a file',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
}

/** The error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('Assertion failed: it did not reject')
}
