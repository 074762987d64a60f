import * as fs from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { checkConversation } from '../../../sources/conversation/checkLog.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { listConversationIds } from '../../../sources/conversation/library.ts'
import { conversationsFolder, transcriptPath } from '../../../sources/conversation/paths.ts'
import { bringTranscript } from '../../../sources/conversation/transcript.ts'
import { makeFamily } from './_family.ts'
import { CHAT, newId, textStep } from './_store.ts'

/** What the calls below do while a transcript is brought up to date; null: nothing but what they always do. */
const world = vi.hoisted(() => {
  const state = {
    native: true,
    /** The call in which the process dies, counted from 0, and how far that call came. */
    death: null as { readonly call: number; readonly how: 'before' | 'half' | 'after' } | null,
    calls: null as string[] | null,
    beforeExchange: () => {},
  }
  const die = () => {
    throw Object.assign(new Error('the process is dead'), { code: 'EIO' })
  }
  /** Does a call, unless the process is dead or dies in it. */
  function through<T>(name: string, go: () => T, half: () => void = () => {}): T {
    if (state.calls === null) return go()
    const call = state.calls.push(name) - 1
    const { death } = state
    if (death === null || call < death.call) return go()
    if (call === death.call && death.how === 'half') half()
    if (call === death.call && death.how === 'after') go()
    return die() as T
  }
  /** The same for a call that has an answer later. */
  async function throughLater(name: string, go: () => Promise<void>): Promise<void> {
    let isWanted = false
    try {
      through(name, () => {
        isWanted = true
      })
    } finally {
      if (isWanted) await go()
    }
  }
  return { state, through, throughLater }
})

vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>()
  const { through } = world
  return {
    ...real,
    openSync: (...as: Parameters<typeof real.openSync>) => through('open', () => real.openSync(...as)),
    readFileSync: (file: string, options?: 'utf8') => through('read', () => real.readFileSync(file, options)),
    unlinkSync: (file: string) => through('unlink', () => real.unlinkSync(file)),
    writeSync: (fd: number, bytes: Buffer) =>
      through(
        'write',
        () => real.writeSync(fd, bytes),
        () => void real.writeSync(fd, bytes.subarray(0, bytes.length / 2)),
      ),
  }
})

vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>()
  return {
    ...real,
    rename: async (from: string, to: string) => {
      if (world.state.calls !== null && !world.state.calls.includes('rename')) world.state.beforeExchange()
      await world.throughLater('rename', () => real.rename(from, to))
    },
  }
})

vi.mock('../../../sources/files/native.ts', async (load) => {
  const real = await load<typeof import('../../../sources/files/native.ts')>()
  return {
    loadNativeFiles: async () => {
      const native = await real.loadNativeFiles()
      if (world.state.calls === null) return native
      if (native === null || !world.state.native) return null
      return {
        ...native,
        swap: async (from: string, to: string) => {
          world.state.beforeExchange()
          await world.throughLater('swap', () => native.swap(from, to))
        },
      }
    },
  }
})

afterEach(() => {
  world.state.calls = null
  world.state.death = null
  world.state.beforeExchange = () => {}
})

/** Brings the transcript of the chat as a process does that may die in it; gives the calls it came to. */
async function bring(root: string, death: typeof world.state.death): Promise<string[]> {
  const conversation = Conversation.open(root, CHAT)
  const { state } = world
  const calls: string[] = []
  state.calls = calls
  state.death = death
  try {
    await bringTranscript(conversation, 'main', null)
  } catch (error) {
    if (death === null) throw error
  } finally {
    state.calls = null
    state.death = null
  }
  return death === null ? calls : calls.slice(0, death.call + 1)
}

/** The chats that lists know and that hold a text. */
function chatsWith(root: string, text: string): string[] {
  return listConversationIds(root).filter((id) => {
    const file = transcriptPath(root, id)
    return fs.existsSync(file) && fs.readFileSync(file, 'utf8').includes(text)
  })
}

function allText(root: string): string {
  const folder = conversationsFolder(root)
  return fs
    .readdirSync(folder)
    .reduce((text, name) => text + fs.readFileSync(`${folder}/${name}`, 'utf8'), '')
}

async function makeForeign() {
  const { root, client } = await makeFamily()
  const file = transcriptPath(root, CHAT)
  const ours = fs.readFileSync(file, 'utf8')
  fs.appendFileSync(file, 'from elsewhere\n')
  return { root, client, file, ours }
}

describe.each([
  ['in one step', true],
  ['in two steps', false],
])('a transcript with foreign text that is replaced %s', (_, native) => {
  const deaths = ['before', 'half', 'after'] as const

  it('is in a chat of its own before, wherever the process dies', { timeout: 120_000 }, async () => {
    world.state.native = native
    const { root: first } = await makeForeign()
    const calls = await bring(first, null)
    expect(calls).toEqual(expect.arrayContaining(['read', 'write', native ? 'swap' : 'rename', 'unlink']))
    for (const call of calls.keys()) {
      for (const how of deaths) {
        const { root, client, file, ours } = await makeForeign()
        const dies = { call, how }
        const reached = await bring(root, dies)
        const at = { call: `${call} ${reached.at(-1)}`, how }
        expect({ ...at, has: chatsWith(root, 'from elsewhere').length > 0 }).toEqual({ ...at, has: true })
        await client.save([textStep(newId(), 'after')])
        const now = fs.readFileSync(file, 'utf8')
        expect({ ...at, ours: now.startsWith(ours), foreign: now.includes('elsewhere') }).toEqual({
          ...{ ...at, ours: true, foreign: false },
        })
        expect({ ...at, has: chatsWith(root, 'from elsewhere').length > 0 }).toEqual({ ...at, has: true })
        expect({ ...at, findings: checkConversation(root, CHAT).findings }).toEqual({ ...at, findings: [] })
        expect(fs.readdirSync(conversationsFolder(root)).filter((name) => /tmp|aside/.test(name))).toEqual([])
      }
    }
  })

  it('keeps what is appended until then, wherever the process dies', { timeout: 120_000 }, async () => {
    world.state.native = native
    const { root: first } = await makeForeign()
    const calls = await bring(first, null)
    const exchange = calls.findIndex((name) => name === 'swap' || name === 'rename')
    for (const call of calls.keys()) {
      for (const how of deaths) {
        const { root, client, file } = await makeForeign()
        world.state.beforeExchange = () => fs.appendFileSync(file, 'and later\n')
        await bring(root, { call, how })
        world.state.beforeExchange = () => {}
        const at = { call, how }
        if (call < exchange) continue
        expect({ ...at, has: allText(root).includes('and later') }).toEqual({ ...at, has: true })
        await client.save([textStep(newId(), 'after')])
        expect({ ...at, has: chatsWith(root, 'from elsewhere\nand later').length }).toEqual({ ...at, has: 1 })
        expect(fs.readFileSync(file, 'utf8')).not.toContain('and later')
      }
    }
  })

  it('is one chat with what was appended, and one without when it all went well', async () => {
    world.state.native = native
    const { root, file } = await makeForeign()
    world.state.beforeExchange = () => fs.appendFileSync(file, 'and later\n')
    await bring(root, null)
    expect(chatsWith(root, 'from elsewhere\nand later')).toHaveLength(1)
    expect(chatsWith(root, 'from elsewhere')).toHaveLength(2)
  })
})
