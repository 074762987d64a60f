import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  isCurrentAnywhere,
  readCurrentBranch,
  tryReadCurrentBranch,
  writeCurrentBranch,
} from '../../../sources/conversation/currentBranch.ts'
import { OLD } from './_oldChats.ts'
import { CHAT, makeRoot, now } from './_store.ts'

describe('the current branch of a folder', () => {
  const one = { chat_id: CHAT, conversation: CHAT }
  const two = { chat_id: OLD, conversation: OLD }
  const change = (root: string, seen: typeof one | null, next: typeof one) =>
    writeCurrentBranch({
      root,
      folder: '/w',
      seen,
      next,
      lockFile: path.join(root, 'locks', 'op'),
      now: now(),
    })

  it('is written only over what the process last saw', async () => {
    const root = makeRoot()
    expect(readCurrentBranch(root, '/w')).toBeNull()
    expect(await change(root, null, one)).toBe(true)
    expect(await change(root, null, two)).toBe(false)
    expect(readCurrentBranch(root, '/w')).toEqual(one)
    expect(await change(root, two, one)).toBe(true)
    expect(await change(root, one, two)).toBe(true)
    expect(readCurrentBranch(root, '/w')).toEqual(two)
    expect(readCurrentBranch(root, '/other')).toBeNull()
    expect([isCurrentAnywhere(root, CHAT), isCurrentAnywhere(root, OLD)]).toEqual([false, true])
  })

  it('is one of those that are written at once', async () => {
    const root = makeRoot()
    const all = await Promise.all([change(root, null, one), change(root, null, two), change(root, null, one)])
    const winner = readCurrentBranch(root, '/w')
    expect(all).toEqual([one, two, one].map((next) => next.chat_id === winner?.chat_id))
  })

  it('is an error when its file is damaged or names what no chat can be, and none for who can do without', async () => {
    const root = makeRoot()
    await change(root, null, one)
    const [name = ''] = readdirSync(path.join(root, 'heads'))
    const file = path.join(root, 'heads', name)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    for (const text of ['garbage', '{', '[]', '{"chat_id":7}', '{"chat_id":"../x","conversation":"y"}']) {
      writeFileSync(file, text)
      expect(() => readCurrentBranch(root, '/w')).toThrow(
        expect.objectContaining({
          code: 'current_branch_unreadable',
          message: expect.stringContaining(file),
          hint: expect.stringContaining('cass switch BRANCH'),
        }),
      )
      expect(tryReadCurrentBranch(root, '/w')).toBeNull()
      expect(isCurrentAnywhere(root, CHAT)).toBe(false)
    }
    // Whoever chose before the damage chooses again; whoever saw the damage does not go over a choice made since.
    expect(await change(root, one, two)).toBe(true)
    expect(readCurrentBranch(root, '/w')).toEqual(two)
    expect(await change(root, null, one)).toBe(false)
    writeFileSync(file, '')
    expect(readCurrentBranch(root, '/w')).toBeNull()
    expect(await change(root, null, two)).toBe(true)
    rmSync(file)
    mkdirSync(file)
    expect(() => readCurrentBranch(root, '/w')).toThrow(
      expect.objectContaining({ code: 'current_branch_unreadable' }),
    )
    chmodSync(file, 0o700)
  })
})
