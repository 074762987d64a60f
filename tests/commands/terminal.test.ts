import { existsSync, readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeSandbox, type Sandbox } from '../_cass.ts'
import { canCall, openTerminal, type Terminal } from './_tmux.ts'

describe.skipIf(!canCall('tmux'))('cass chat in a terminal', { timeout: 120_000 }, () => {
  let sandbox: Sandbox
  let terminal: Terminal | null = null
  beforeEach(() => {
    sandbox = makeSandbox()
  })
  afterEach(() => {
    terminal?.close()
    sandbox.remove()
  })

  async function open(...args: string[]): Promise<Terminal> {
    terminal = openTerminal(sandbox, ['chat', ...args])
    await terminal.seePrompt()
    return terminal
  }

  it('takes turn after turn, asks before a command, and ends with /quit', async () => {
    const chat = await open('--demo')
    chat.type('fix the failing test')
    chat.press('Enter')
    await chat.see('✓ edit src/basket.js')
    await chat.see('allow once')
    chat.press('Enter')
    expect(await chat.seePrompt()).toContain('I am the demo model')
    chat.type('write a note')
    chat.press('Enter')
    await chat.see('✓ write NOTES.md')
    chat.type('/quit')
    chat.press('Enter')
    expect(await chat.exit()).toBe(0)
    // Neither the user's folder nor the user's chats are touched by a demo.
    expect(readdirSync(sandbox.workspace)).toEqual([])
    expect(existsSync(sandbox.cassHome)).toBe(false)
  })

  it('denies a command on Escape, and the turn goes on', async () => {
    const chat = await open('--demo')
    chat.type('run the tests')
    chat.press('Enter')
    await chat.see('allow once')
    chat.press('Escape')
    await chat.see('✗ shell node --test')
    expect(await chat.seePrompt()).toContain('I am the demo model')
    chat.press('C-d')
    expect(await chat.exit()).toBe(0)
  })

  it('cancels the turn on Ctrl-C, also at a question, and goes on', async () => {
    const chat = await open('--demo')
    chat.type('run the tests')
    chat.press('Enter')
    await chat.see('allow once')
    chat.press('C-c')
    await chat.see('cancelled')
    await chat.seePrompt()
    chat.type('hello')
    chat.press('Enter')
    await chat.see('I am the demo model')
    await chat.seePrompt()
    chat.press('C-d')
    expect(await chat.exit()).toBe(0)
  })

  it('is left by Ctrl-C at the prompt', async () => {
    const chat = await open('--demo')
    chat.press('C-c')
    expect(await chat.exit()).toBe(0)
  })

  it('says what is missing when there is no provider, and waits for the next line', async () => {
    const chat = await open()
    chat.type('hello')
    chat.press('Enter')
    const screen = await chat.see('hint:')
    expect(screen).toContain('error: ')
    expect(screen).toContain('cass setup')
    chat.press('C-d')
    expect(await chat.exit()).toBe(0)
    expect(existsSync(sandbox.cassHome) ? readdirSync(sandbox.cassHome) : []).not.toContain('conversations')
  })
})
