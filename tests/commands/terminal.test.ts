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

  it('ends with what is missing when there is no provider, before it asks for a message', async () => {
    terminal = openTerminal(sandbox, ['chat'])
    expect(await terminal.exit()).toBe(1)
    const screen = await terminal.see('hint:')
    expect(screen).toContain('error: ')
    expect(screen).toContain('cass setup')
    expect(existsSync(sandbox.cassHome) ? readdirSync(sandbox.cassHome) : []).not.toContain('conversations')
  })

  it('takes pasted lines as one message', async () => {
    const chat = await open('--demo')
    chat.paste('write a note\nabout\n\nthe discount\n')
    await chat.see('[pasted 4 lines #1]')
    chat.press('Enter')
    await chat.see('✓ write NOTES.md')
    expect(await chat.seePrompt()).toContain('  │ the discount')
    chat.press('C-d')
    expect(await chat.exit()).toBe(0)
  })

  it('keeps what is typed during a turn for the next prompt', async () => {
    const chat = await open('--demo')
    chat.type('write a note')
    chat.press('Enter')
    chat.type('half a sen')
    await chat.see('✓ write NOTES.md')
    const screen = await chat.see('> half a sen')
    expect(screen.match(/half a sen/g)).toHaveLength(1)
    chat.press('C-c')
    expect(await chat.exit()).toBe(0)
  })

  it('goes on after Ctrl-Z and fg', async () => {
    terminal = openTerminal(sandbox, ['chat', '--demo'], { inShell: true })
    await terminal.seePrompt()
    terminal.type('hel')
    await terminal.see('> hel')
    terminal.press('C-z')
    await terminal.see('Stopped')
    terminal.type('fg')
    terminal.press('Enter')
    await terminal.see('\n> hel')
    terminal.type('lo')
    await terminal.see('> hello')
    terminal.press('Enter')
    await terminal.see('I am the demo model')
    await terminal.seePrompt()
    terminal.press('C-d')
    // The shell wrote the code when the chat was stopped, too.
    await terminal.see('shell: ')
  })
})
