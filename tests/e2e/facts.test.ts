import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { checkedEvents } from './_events.ts'
import { call, test, type World } from './_world.ts'

const configure = (world: World, name: string, value: unknown) =>
  writeFileSync(join(world.cassHome, name), JSON.stringify(value), { mode: 0o600 })

const model = (reasoning: object) => ({
  models: [{ id: 'scripted', provider: 'scripted', context_length: 100_000, reasoning }],
})

const toolResults = (body: { messages: ReadonlyArray<{ role: string; content: string }> }) =>
  body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)

/** What users of the Rust program rely on. */
describe.concurrent('as in Cassady', () => {
  test('reasoning effort is a field of the request, in the form that the model takes', async ({ world }) => {
    world.provider.setScript({ fallback: 'Ok.' })
    configure(world, 'models.json', model({ default_effort: 'high' }))
    await world.ok(['run', 'x'])
    configure(world, 'models.json', model({ default_effort: 'low', request_format: 'reasoning_object' }))
    await world.ok(['run', 'x'])
    configure(world, 'models.json', model({ supported: false }))
    await world.ok(['run', 'x'])
    expect(world.bodies().map(({ reasoning_effort: effort, reasoning }) => [effort, reasoning])).toEqual([
      ['high', undefined],
      [undefined, { effort: 'low' }],
      [undefined, undefined],
    ])
    expect(world.bodies()[0]).not.toHaveProperty('fast_mode')
  })

  test.for(['reasoning_content', 'reasoning', 'thinking'])(
    'reasoning under the name %s is streamed, kept, and sent back under it',
    async (field, { world }) => {
      world.provider.setScript([
        { reasoning: ['two and ', 'two'], reasoningField: field, ...call('ls', {}) },
        'Four.',
      ])
      const { stdout } = await world.run(['run', '--json', 'x'])
      const thoughts = checkedEvents(stdout).flatMap(({ type, text }) =>
        type === 'reasoning_chunk' ? [text] : [],
      )
      expect(thoughts.join('')).toBe('two and two')
      expect(world.bodies()[1].messages[2]).toMatchObject({ role: 'assistant', [field]: 'two and two' })
      const [, record] = (await world.json(['log'])).records
      expect(record).toMatchObject({ reasoning: 'two and two' })
      const transcript = readFileSync(
        join(world.cassHome, 'conversations', `${await world.ok(['resolve', '@'])}.jsonl`),
        'utf8',
      )
      expect(JSON.parse(transcript.split('\n')[3]!)).toMatchObject({ reasoning_field: field })
    },
  )

  test('an empty answer is asked for once more, and only the second one is kept', async ({ world }) => {
    world.provider.setScript([{ text: '' }, 'Done.'])
    const { exitCode, stdout } = await world.run(['run', '--json', 'x'])
    const events = checkedEvents(stdout)
    expect(exitCode).toBe(0)
    expect(events.flatMap(({ type, text }) => (type === 'assistant_chunk' ? [text] : [])).join('')).toBe(
      'Done.',
    )
    expect(events.some(({ type, text }) => type === 'status' && text.includes('empty'))).toBe(true)
    expect((await world.json(['log'])).records.map(({ content }: { content: string }) => content)).toEqual([
      ...['x', 'Done.'],
    ])
  })

  test('results of tools are stored whole, and shortened for the model only', async ({ world }) => {
    configure(world, 'config.json', { default_provider: 'scripted', model_tool_result_limit: 500 })
    const lines = Array.from({ length: 200 }, (_, i) => `line ${i + 1}`)
    writeFileSync(join(world.workspace, 'large.txt'), `${lines.join('\n')}\n`)
    world.provider.setScript([call('read', { files: [{ path: 'large.txt' }] }), 'Read.'])
    await world.ok(['run', 'x'])
    const [sent] = toolResults(world.bodies()[1])
    expect(sent).not.toContain('line 150')
    expect(sent).toMatch(/truncated/)
    expect(await world.ok(['show', '@:4'])).toMatch(/line 1\b[\s\S]*line 200/)
  })

  test('an answer that the output limit cut stands, and is told of', async ({ world }) => {
    world.provider.setScript([{ text: 'So far', finish: 'length' }])
    const { exitCode, stdout } = await world.run(['run', '--json', 'x'])
    expect(exitCode).toBe(0)
    const events = checkedEvents(stdout)
    expect(events.at(-1)).toMatchObject({ stop_reason: 'length' })
    expect(events.some(({ code }) => code === 'answer_cut')).toBe(true)
    expect(await world.run(['show', '@'])).toMatchObject({ stdout: expect.stringContaining('So far') })
  })

  test('arguments that are no JSON are answered with what is wrong, and go back as a strict server takes them', async ({
    world,
  }) => {
    world.provider.setScript([
      {
        calls: [
          { id: 'a', name: 'read', arguments: '{"files": [' },
          { id: 'b', name: 'nothing', arguments: {} },
        ],
      },
      'I see.',
    ])
    expect(await world.ok(['run', 'x'])).toBe('I see.')
    const [broken, unknown] = toolResults(world.bodies()[1])
    expect(broken).toContain('not a JSON object')
    expect(unknown).toContain('unknown tool `nothing`')
    expect(world.bodies()[1].messages[2].tool_calls[0].function.arguments).toContain('_raw')
  })

  test('a path through a link that leads out of the workspace is not written, nor read when restricted', async ({
    world,
  }) => {
    const outside = join(world.folder, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'secret.txt'), 'secret text')
    symlinkSync(outside, join(world.workspace, 'link'))
    world.provider.setScript([
      call('write', { path: 'link/new.txt', content: 'x' }),
      call('read', { files: [{ path: 'link/secret.txt' }] }),
      'No.',
    ])
    await world.ok(['run', 'x'])
    expect(existsSync(join(outside, 'new.txt'))).toBe(false)
    const results = toolResults(world.bodies()[2])
    expect(results[0]).toContain('escapes')
    expect(results[1]).not.toContain('secret text')
  })

  test('the bundled pages can be read in every mode, and written in none', async ({ world }) => {
    const page = join(world.cassHome, 'docs-cass', 'README.md')
    world.provider.setScript([
      call('read', { files: [{ path: page }] }),
      call('write', { path: page, content: 'x' }),
      'Done.',
    ])
    const { stdout } = await world.run(['run', '--json', '--full-access', 'x'])
    const results = checkedEvents(stdout).filter(({ type }) => type === 'tool_result')
    expect(results.map(({ ok }) => ok)).toEqual([true, false])
    expect(readFileSync(page, 'utf8')).not.toBe('x')
  })

  test('an edit whose text is not there changes nothing and says so', async ({ world }) => {
    const path = join(world.workspace, 'src/money.js')
    const before = readFileSync(path)
    const edits = [
      { old_text: 'padStart(3', new_text: 'padStart(4' },
      { old_text: 'not in this file', new_text: 'x' },
    ]
    world.provider.setScript([call('edit', { path: 'src/money.js', edits }), 'Hm.'])
    await world.ok(['run', 'x'])
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(toolResults(world.bodies()[1])[0]).toMatch(/not found|does not|no match/i)
  })
})
