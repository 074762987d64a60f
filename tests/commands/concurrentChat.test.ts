import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endWorld, makeWorld, type World } from '../e2e/_world.ts'
import { canCall, openTerminal, type Terminal } from './_tmux.ts'

const notice = 'another process added to this chat'

describe.skipIf(!canCall('tmux'))('cass chat beside another process', { timeout: 120_000 }, () => {
  let world: World
  let terminal: Terminal | null = null
  beforeEach(async () => {
    world = await makeWorld()
  })
  afterEach(async () => {
    terminal?.close()
    await endWorld(world)
  })

  async function say(chat: Terminal, text: string, answer: string): Promise<string> {
    chat.type(text)
    chat.press('Enter')
    await chat.see(answer)
    return await chat.seePrompt()
  }

  /** What the user said on a branch. */
  async function said(branch: string): Promise<string[]> {
    const { records } = await world.json(['log', branch])
    return records.flatMap(({ type, content }: { type: string; content: string }) =>
      type === 'user' ? [content] : [],
    )
  }

  it('goes on beside what was added between two lines, says so once, and stays there', async () => {
    world.provider.setScript(['Answer one.', 'Answer outside.', 'Answer two.', 'Answer three.'])
    const chat = openTerminal(world, ['chat'])
    terminal = chat
    await chat.seePrompt()
    expect(await say(chat, 'first line', 'Answer one.')).not.toContain(notice)
    const main = await world.ok(['resolve', '@'])
    await world.ok(['run', '-c', 'from outside'])
    const screen = await say(chat, 'second line', 'Answer two.')
    expect(screen.replace(/\s+/g, ' ')).toContain(notice)
    const { branches } = await world.json(['branches', '--all'])
    const [beside, ...more] = branches.filter(({ kind }: { kind: string }) => kind !== 'main')
    expect(more).toEqual([])
    expect(beside).toMatchObject({ kind: 'concurrent', parent: main })
    expect(await said(main)).toEqual(['first line', 'from outside'])
    expect(await said(beside.chat_id)).toEqual(['first line', 'second line'])
    const after = await say(chat, 'third line', 'Answer three.')
    expect(after.split(notice)).toHaveLength(2)
    expect(await said(beside.chat_id)).toEqual(['first line', 'second line', 'third line'])
    // The model never saw what the user of this chat had not seen.
    expect(JSON.stringify(world.bodies().at(-1))).not.toContain('from outside')
    chat.type('/quit')
    chat.press('Enter')
    expect(await chat.exit()).toBe(0)
    expect(await chat.see('Resume this chat with')).toContain(`cass --resume ${beside.chat_id}`)
  })

  it('goes on in the same branch when nobody added anything', async () => {
    world.provider.setScript(['Answer one.', 'Answer two.'])
    const chat = openTerminal(world, ['chat'])
    terminal = chat
    await chat.seePrompt()
    await say(chat, 'first line', 'Answer one.')
    expect(await say(chat, 'second line', 'Answer two.')).not.toContain(notice)
    expect((await world.json(['branches'])).branches).toHaveLength(1)
    expect(await said('@')).toEqual(['first line', 'second line'])
    chat.press('C-d')
    expect(await chat.exit()).toBe(0)
  })
})
