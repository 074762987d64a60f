import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeIsClosed, makeOwnSpelling } from '../../../sources/workspace/ownSpelling.ts'

let top: string
let cassHome: string

beforeEach(() => {
  top = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cass-own-')))
  cassHome = path.join(top, 'home/.cass')
  mkdirSync(path.join(cassHome, 'conversations'), { recursive: true })
})

afterEach(() => rmSync(top, { recursive: true, force: true }))

describe('the own spelling of a path', () => {
  // A link that was not followed stands for a bind mount here, which only the identity of the folder gives away.
  it('begins with the folder of cass when another way leads to that folder', async () => {
    symlinkSync(path.join(top, 'home'), path.join(top, 'mount'))
    const spell = makeOwnSpelling(cassHome)
    const cases = [
      ['mount/.cass', 'home/.cass'],
      ['mount/.cass/conversations', 'home/.cass/conversations'],
      ['mount/.cass/new/deep', 'home/.cass/new/deep'],
      ['mount/other', 'mount/other'],
      ['home/.cassette', 'home/.cassette'],
      ['home', 'home'],
    ] as const
    for (const [asked, spelled] of cases) {
      expect(await spell(path.join(top, asked))).toBe(path.join(top, spelled))
    }
  })

  it('is that of the file with keys for each other name of that file', async () => {
    writeFileSync(path.join(top, 'dotfile'), 'key')
    symlinkSync(path.join(top, 'dotfile'), path.join(cassHome, 'providers.json'))
    writeFileSync(path.join(cassHome, 'config.json'), '{}')
    linkSync(path.join(cassHome, 'config.json'), path.join(top, 'second'))
    const spell = makeOwnSpelling(cassHome)
    expect(await spell(path.join(top, 'dotfile'))).toBe(path.join(cassHome, 'providers.json'))
    expect(await spell(path.join(top, 'second'))).toBe(path.join(cassHome, 'config.json'))
  })

  it('is the path itself where there is no folder of cass yet', async () => {
    rmSync(cassHome, { recursive: true })
    expect(await makeOwnSpelling(cassHome)(path.join(top, 'home/x'))).toBe(path.join(top, 'home/x'))
    expect(await makeIsClosed(cassHome)(path.join(cassHome, 'x'))).toBe(true)
  })
})
