import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type HoldWait, holdForPath, holdWhole } from '../../../sources/workspace/hold.ts'

let home = ''

beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'cass-hold-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const atOnce: HoldWait = { timeoutMs: 0, signal: null, onWait: null }
const busy = { code: 'lock_held', kind: 'busy' }
const place = () => ({ home, key: 'k' })

describe('a hold', () => {
  test('of one file lets other files be written, but not the same one', async () => {
    const one = await holdForPath(place(), 'a', atOnce)
    const two = await holdForPath(place(), 'b', atOnce)
    await expect(holdForPath(place(), 'a', atOnce)).rejects.toMatchObject(busy)
    await one.release()
    await (await holdForPath(place(), 'a', atOnce)).release()
    await two.release()
  })

  test('of the whole workspace keeps everyone out, and waits for who writes a file', async () => {
    const file = await holdForPath(place(), 'a', atOnce)
    await expect(holdWhole(place(), atOnce)).rejects.toMatchObject(busy)
    await file.release()
    const whole = await holdWhole(place(), atOnce)
    await expect(holdForPath(place(), 'b', atOnce)).rejects.toMatchObject(busy)
    await (await holdForPath({ home, key: 'other' }, 'b', atOnce)).release()
    await whole.release()
    await (await holdWhole(place(), atOnce)).release()
  })

  test('that failed leaves nothing held', async () => {
    const file = await holdForPath(place(), 'a', atOnce)
    await expect(holdForPath(place(), 'a', atOnce)).rejects.toMatchObject(busy)
    await file.release()
    await (await holdWhole(place(), atOnce)).release()
  })

  test('that must wait says once what is written, and comes when it is free', async () => {
    const whole = await holdWhole(place(), atOnce)
    const announced: string[] = []
    let released = Promise.resolve()
    const onWait = (written: string) => {
      announced.push(written)
      released = whole.release()
    }
    const hold = await holdForPath(place(), 'src/a', { timeoutMs: null, signal: null, onWait })
    await released
    expect(announced).toEqual(["'src/a'"])
    await hold.release()
  })

  test('ends its wait when it is cancelled, before it is taken too', async () => {
    const whole = await holdWhole(place(), atOnce)
    const controller = new AbortController()
    const wait = { timeoutMs: null, signal: controller.signal, onWait: () => controller.abort() }
    await expect(holdWhole(place(), wait)).rejects.toMatchObject({ name: 'AbortError' })
    await whole.release()
    await expect(holdWhole(place(), wait)).rejects.toMatchObject({ name: 'AbortError' })
  })
})
