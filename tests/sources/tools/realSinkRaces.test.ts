import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { isStored, makePlace, modeOf, put, tempFiles, textOf } from '../edits/_place.ts'
import { edit, told, write } from './_realSink.ts'

describe('tools with the real edit sink and somebody else in the same files', () => {
  it.each(['line_written', 'temp_written', 'before_exchange'] as const)(
    'refuse a file that changes at %s, name the change, and lose nothing',
    async (step) => {
      const place = makePlace()
      const file = put(place.workspace.root, 'a', 'old', 0o600)
      const theirs = (text: string) => ({
        hooks: { onStep: (at: string) => (at === step ? writeFileSync(file, text) : undefined) },
      })
      const refused = {
        ok: false,
        content: expect.stringMatching(/'.*\/a' changed after it was read\nhint: read the file again/),
        changes: [],
      }
      expect(await write(place, 'a', 'new', theirs('theirs'))).toEqual(refused)
      expect(textOf(file)).toBe('theirs')
      expect(await edit(place, 'a', [['theirs', 'ours']], theirs('theirs again'))).toEqual(refused)
      expect(textOf(file)).toBe('theirs again')
      expect(modeOf(file)).toBe(0o600)
      expect(tempFiles(place.workspace.root)).toEqual([])
      // What is there now can be edited, and every state of the others is kept.
      expect((await edit(place, 'a', [['again', 'at last']])).ok).toBe(true)
      expect(textOf(file)).toBe('theirs at last')
      expect(isStored(place, 'theirs again')).toBe(true)
    },
  )

  it('refuse a new file whose name is taken meanwhile, and one that is deleted meanwhile', async () => {
    const place = makePlace()
    const file = path.join(place.workspace.root, 'sub/a')
    const taken = {
      hooks: {
        onStep: (at: string) => (at === 'before_exchange' ? writeFileSync(file, 'theirs') : undefined),
      },
    }
    expect(await write(place, 'sub/a', 'new', taken)).toMatchObject({
      ok: false,
      content: expect.stringContaining('changed after it was read'),
    })
    expect(textOf(file)).toBe('theirs')
    const gone = { hooks: { onStep: (at: string) => (at === 'before_exchange' ? rmSync(file) : undefined) } }
    expect(await edit(place, 'sub/a', [['theirs', 'ours']], gone)).toMatchObject({
      ok: false,
      content: expect.stringContaining('changed after it was read'),
    })
    expect(existsSync(file)).toBe(false)
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  it('refuse a link that takes the place of the file or of its folder after the look', async () => {
    const place = makePlace()
    const { root } = place.workspace
    const outside = put(path.dirname(root), 'outside/a', 'old')
    const file = put(root, 'sub/a', 'old')
    const swap = (step: string, from: string, to: string) => ({
      hooks: {
        onStep: (at: string) => {
          if (at !== step) return
          renameSync(from, path.join(root, 'moved'))
          symlinkSync(to, from)
        },
      },
    })
    const back = (from: string) => {
      rmSync(from)
      renameSync(path.join(root, 'moved'), from)
    }
    for (const step of ['line_written', 'temp_written', 'before_exchange']) {
      expect(await write(place, 'sub/a', 'new', swap(step, file, outside))).toMatchObject({
        ok: false,
        content: expect.stringContaining(`'${file}' changed after it was read`),
      })
      back(file)
      expect(textOf(file)).toBe('old')
      const folder = path.dirname(file)
      const moved = await write(place, 'sub/a', 'new', swap(step, folder, path.dirname(outside)))
      // A folder that is open already may be written to where it was moved, as if the write had come before the move.
      const isEarly = step === 'line_written'
      if (isEarly || !moved.ok) expect(moved.content).toContain(`'${folder}' is not a folder but a link`)
      expect(isEarly && moved.ok).toBe(false)
      expect(textOf(path.join(root, 'moved/a'))).toBe(moved.ok ? 'new' : 'old')
      expect([textOf(outside), tempFiles(path.dirname(outside))]).toEqual(['old', []])
      // Elsewhere the way to the temporary file has gone with the folder.
      if (process.platform === 'linux') expect(tempFiles(root)).toEqual([])
      back(folder)
      writeFileSync(file, 'old')
    }
  })

  it('wait for one another, so that calls at once on one file lose no edit', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', '0\n1\n2\n3\n')
    const outcomes = await Promise.all(
      ['0', '1', '2', '3'].map((old) => edit(place, 'a', [[old, `n${old}`]])),
    )
    // Whoever looked before another one published is refused; whoever is told that it worked is in the file.
    for (const [index, { ok, content }] of outcomes.entries()) {
      if (!ok) expect(content).toContain('changed after it was read')
      expect(textOf(file).includes(`n${index}`)).toBe(ok)
    }
    expect(outcomes.some(({ ok }) => ok)).toBe(true)
    expect(told(place)).toHaveLength(outcomes.filter(({ ok }) => ok).length)
  })
})
