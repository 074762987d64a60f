import { describe, expect, it } from 'vitest'
import { CassError } from '../../../sources/errors.ts'
import { bounded, boundedLine } from '../../../sources/tools/limits.ts'
import { describeError, runGuarded, succeed, ToolFailure } from '../../../sources/tools/outcome.ts'
import { OutputWindow } from '../../../sources/tools/outputWindow.ts'

const signal = new AbortController().signal

describe('runGuarded', () => {
  it('tells the whole chain of causes and the hint', async () => {
    const cause = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
    const error = new CassError('x', "cannot open 'a'", { cause, hint: 'check the permissions' })
    const outcome = await runGuarded(signal, () => Promise.reject(error))
    expect(outcome).toEqual({
      ok: false,
      content: "cannot open 'a'\ncause: EACCES: permission denied\nhint: check the permissions",
      changes: [],
    })
  })

  it('bounds what an error says, and ends with causes that go in a circle', async () => {
    const error = new ToolFailure('x'.repeat(100_000))
    error.cause = error
    const { content } = await runGuarded(signal, () => Promise.reject(error))
    expect(content.length).toBeLessThan(8400)
    expect(content).toContain('truncated by Cass')
    expect(describeError('text')).toBe('text')
  })

  it('lets our own bugs and an abort through', async () => {
    await expect(runGuarded(signal, () => Promise.reject(new TypeError('bug')))).rejects.toThrow('bug')
    const controller = new AbortController()
    const running = runGuarded(controller.signal, async () => {
      controller.abort()
      throw new ToolFailure('ended')
    })
    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
    // What was done counts, also when the abort comes right behind it.
    const late = new AbortController()
    const done = runGuarded(late.signal, async () => {
      late.abort()
      return succeed('done')
    })
    expect(await done).toMatchObject({ ok: true, content: 'done' })
  })
})

describe('OutputWindow', () => {
  it('keeps everything that fits, whatever the pieces are', () => {
    const window = new OutputWindow({ head: 4, tail: 4 })
    for (const piece of ['a', '', 'bcd', 'ef', 'gh']) window.push(piece)
    expect(String(window)).toBe('abcdefgh')
  })

  it('keeps both ends of what does not fit, and no half characters', () => {
    const window = new OutputWindow({ head: 4, tail: 4 })
    window.push('abc😀')
    for (let index = 0; index < 1000; index += 1) window.push('-')
    window.push('😀xyz')
    expect(String(window)).toBe('abc\n… truncated by Cass: 1004 of 1010 characters are left out here …\nxyz')
  })
})

describe('limits', () => {
  it('cut texts with a marker', () => {
    expect(bounded('abc', 3)).toBe('abc')
    expect(bounded('abcd', 3)).toBe('abc\n… truncated by Cass: 1 of 4 characters are not shown')
    expect(boundedLine('a😀b', 2)).toBe('a… [3 more characters]')
  })
})
