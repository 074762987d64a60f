import { describe, expect } from 'vitest'
import { test } from './_world.ts'

const size = 6_000_000

/** A regular expression walks such a run into the end of its stack, a careless loop takes minutes. */
const runs: Readonly<Record<string, string>> = {
  letters: 'a'.repeat(size),
  'line ends': `x${'\n'.repeat(size)}x`,
}

describe.concurrent('a text of six million', () => {
  test.for(Object.keys(runs))('%s is a prompt like any other', async (name, { world }) => {
    const text = runs[name]!
    world.provider.setScript({ fallback: 'Long.' })
    expect(await world.ok(['run'], { input: text })).toBe('Long.')
    expect(await world.ok(['run', '--continue', 'again'])).toBe('Long.')
    const log = await world.json(['log'])
    expect(log.records[0].content === text).toBe(true)
    for (const args of [['log', '--oneline'], ['checkpoints'], ['chats', '--search', 'zzz']])
      await world.ok(args)
    expect(await world.json(['fsck'])).toMatchObject({ findings: [] })
  })

  test('letters is an answer like any other', async ({ world }) => {
    world.provider.setScript([{ text: runs.letters!, reasoning: runs['line ends']! }, 'Short.'])
    expect((await world.ok(['run', 'x'])).length).toBe(size)
    expect(await world.ok(['run', '--continue', 'again'])).toBe('Short.')
  })
})
