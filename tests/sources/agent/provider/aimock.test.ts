import { LLMock } from '@copilotkit/aimock'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeTestModel, readTool } from './_provider.ts'

/** A server that others wrote, to check that the client understands more than our own. */
async function startMock(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, logLevel: 'silent' })
  await mock.start()
  onTestFinished(() => mock.stop())
  return mock
}

const ask = (mock: LLMock, content: string) => {
  const model = makeTestModel(`${mock.url}/v1`)
  const messages = [{ role: 'user' as const, content }]
  return { ...model, answer: model.ask({ messages, tools: [readTool] }) }
}

describe('against a mock server that others wrote', () => {
  test('text is streamed, and usage kept', async () => {
    const mock = await startMock()
    mock.onMessage(
      'hello',
      {
        content: 'Hello there, this is a longer answer. 🎉',
        usage: { prompt_tokens: 11, completion_tokens: 7 },
      },
      { chunkSize: 5 },
    )
    const { answer, texts } = ask(mock, 'hello')
    expect(await answer).toMatchObject({
      text: 'Hello there, this is a longer answer. 🎉',
      finish: 'stop',
      usage: { input_tokens: 11, output_tokens: 7 },
    })
    expect(texts('text').length).toBeGreaterThan(3)
  })

  test('two parallel calls are put together', async () => {
    const mock = await startMock()
    mock.onMessage(
      'look',
      {
        toolCalls: [
          { id: 'call_a', name: 'read', arguments: '{"path":"a.ts"}' },
          { id: 'call_b', name: 'read', arguments: '{"path":"b.ts"}' },
        ],
      },
      { chunkSize: 3 },
    )
    expect(await ask(mock, 'look').answer).toMatchObject({
      finish: 'tool_calls',
      tool_calls: [
        { id: 'call_a', name: 'read', arguments: '{"path":"a.ts"}' },
        { id: 'call_b', name: 'read', arguments: '{"path":"b.ts"}' },
      ],
    })
  })

  test('reasoning is streamed before the text', async () => {
    const mock = await startMock()
    mock.onMessage('think', { content: 'four', reasoning: 'two and two' })
    const { answer, events } = ask(mock, 'think')
    expect(await answer).toMatchObject({
      text: 'four',
      reasoning: 'two and two',
      reasoning_field: 'reasoning_content',
    })
    expect(events[0]?.type).toBe('reasoning')
  })

  test('a limit is waited for, and the next try answers', async () => {
    const mock = await startMock()
    mock.onMessage('hello', { content: 'Hello' })
    mock.nextRequestError(429, { message: 'slow down', type: 'rate_limit_error' })
    const { answer, waits, texts } = ask(mock, 'hello')
    expect(await answer).toMatchObject({ text: 'Hello' })
    expect(waits).toHaveLength(1)
    expect(texts('status')[0]).toContain('is limiting requests (429): slow down')
    expect(mock.getRequests()).toHaveLength(2)
  })

  test('a cut answer is an error that keeps the beginning', async () => {
    const mock = await startMock()
    mock.onMessage(
      'hello',
      { content: 'Hello there, this is a longer answer.' },
      { chunkSize: 5, truncateAfterChunks: 3 },
    )
    const caught: unknown = await ask(mock, 'hello').answer.catch((error: unknown) => error)
    expect(caught).toMatchObject({ code: 'provider_cut_stream' })
  })
})
