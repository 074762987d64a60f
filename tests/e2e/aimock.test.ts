import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { expect } from 'vitest'
import { checkedEvents } from './_events.ts'
import { test } from './_world.ts'

test('against a server that nobody here wrote, a turn edits a file and answers', async ({ world }) => {
  const mock = new LLMock({ port: 0, logLevel: 'silent' })
  await mock.start()
  const edits = [{ old_text: 'padStart(3', new_text: 'padStart(5' }]
  const args = JSON.stringify({ path: 'src/money.js', edits })
  mock.onToolResult('call_mock', {
    content: 'Padded to five. 🎉',
    usage: { prompt_tokens: 9, completion_tokens: 4 },
  })
  mock.onMessage('pad', { toolCalls: [{ id: 'call_mock', name: 'edit', arguments: args }] }, { chunkSize: 4 })
  const options = ['--base-url', `${mock.url}/v1`, '--api-key-env', 'SCRIPTED_KEY', '--model', 'mock']
  try {
    const { exitCode, stdout, stderr } = await world.run(['run', '--json', ...options, 'pad to five'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const events = checkedEvents(stdout)
    expect(events.find(({ type }) => type === 'file_changed')).toMatchObject({ path: 'src/money.js' })
    expect(events.at(-1)).toMatchObject({ stop_reason: 'stop', records: 6 })
    expect(readFileSync(join(world.workspace, 'src/money.js'), 'utf8')).toContain('padStart(5')
    mock.onMessage('again', { content: 'Nothing left to do.' })
    expect(await world.ok(['run', '-c', ...options, 'again'])).toBe('Nothing left to do.')
    expect(mock.getRequests()).toHaveLength(3)
  } finally {
    await mock.stop()
  }
})
