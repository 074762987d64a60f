import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEMO_MARKER, DEMO_MARKER_TEXT } from '../../../sources/session/demoFolders.ts'
import type { Place } from '../../../sources/session/place.ts'
import { prepareDemo } from '../../../sources/session/prepareDemo.ts'
import { demoTurn, makePlace } from './_session.ts'

const fixtures = fileURLToPath(new URL('../../../fixtures', import.meta.url))
const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1000

let scratch: string
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cass-scratch-')))
  vi.stubEnv('TMPDIR', scratch)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(scratch, { recursive: true, force: true })
})

const place = (): Place => ({ ...makePlace(), programFolder: fixtures })
const fresh = (from: Place) => prepareDemo(from, { goesOn: false })
const again = (from: Place) => prepareDemo(from, { goesOn: true })

/** Makes a demo's folder look as if nobody had used it for two days. */
function age(folder: string, from: Place): void {
  const then = new Date(from.now().getTime() - TWO_DAYS_MS)
  utimesSync(path.join(folder, DEMO_MARKER), then, then)
}

describe('going on with a demo', () => {
  it('works where the earlier demo did, with its chats, also when CASS_HOME is elsewhere', async () => {
    const user = place()
    const demo = await fresh(user)
    const { outcome } = await demoTurn(demo, { target: { type: 'new' } })
    const next = await again({ ...user, cwd: demo.cwd })
    expect(next).toMatchObject({ cwd: demo.cwd, root: demo.root })
    expect(readdirSync(scratch).filter((name) => name.startsWith('cass-demo-'))).toHaveLength(1)
    const { outcome: second } = await demoTurn(next, { target: { type: 'continue' } })
    expect(second.chat_id).toBe(outcome.chat_id)
  })

  it.each<[string, (demo: Place) => void]>([
    ['has no marker', ({ cwd }) => rmSync(path.join(cwd, '..', DEMO_MARKER))],
    ['has another marker', ({ cwd }) => writeFileSync(path.join(cwd, '..', DEMO_MARKER), 'mine\n')],
    ['has no home', ({ root }) => rmSync(root, { recursive: true })],
  ])('makes a new scratch folder where the one around it %s', async (_, spoil) => {
    const user = place()
    const demo = await fresh(user)
    spoil(demo)
    expect((await again({ ...user, cwd: demo.cwd })).cwd).not.toBe(demo.cwd)
  })

  it('is not what a demo with a new chat does', async () => {
    const user = place()
    const demo = await fresh(user)
    expect((await fresh({ ...user, cwd: demo.cwd })).cwd).not.toBe(demo.cwd)
  })
})

describe('the next demo', () => {
  it('removes the scratch folder of a demo that was not used for a day, and no younger one', async () => {
    const user = place()
    const old = await fresh(user)
    const young = await fresh(user)
    age(path.dirname(old.cwd), user)
    const next = await fresh(user)
    expect(existsSync(path.dirname(old.cwd))).toBe(false)
    expect(existsSync(young.cwd)).toBe(true)
    expect(existsSync(next.cwd)).toBe(true)
  })

  it('leaves everything else alone', async () => {
    const user = place()
    const make = (name: string, marker: string | null) => {
      const folder = path.join(scratch, name)
      mkdirSync(folder)
      writeFileSync(path.join(folder, 'mine.txt'), 'x')
      if (marker === null) return
      writeFileSync(path.join(folder, DEMO_MARKER), marker)
      age(folder, user)
    }
    make('cass-demo-AAAAAA', null)
    make('cass-demo-BBBBBB', 'another text\n')
    make('cass-demo-CCCCCC-mine', DEMO_MARKER_TEXT)
    make('mine', DEMO_MARKER_TEXT)
    symlinkSync(path.join(scratch, 'mine'), path.join(scratch, 'cass-demo-DDDDDD'))
    mkdirSync(path.join(scratch, 'cass-demo-EEEEEE'))
    symlinkSync(path.join(scratch, 'mine', DEMO_MARKER), path.join(scratch, 'cass-demo-EEEEEE', DEMO_MARKER))
    const current = await fresh(user)
    age(path.dirname(current.cwd), user)
    const before = readdirSync(scratch, { recursive: true, encoding: 'utf8' }).toSorted()
    await fresh({ ...user, cwd: current.cwd })
    const after = readdirSync(scratch, { recursive: true, encoding: 'utf8' })
    expect(after).toEqual(expect.arrayContaining(before))
  })

  it('keeps a demo whose chats were written to', async () => {
    const user = { ...place(), now: () => new Date() }
    const old = await fresh(user)
    await demoTurn(old, { target: { type: 'new' } })
    age(path.dirname(old.cwd), user)
    await fresh(user)
    expect(existsSync(old.cwd)).toBe(true)
  })
})
