import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { countElsewhere } from '../../../sources/session/countElsewhere.ts'
import { makePlace, seedChat, TURN } from './_session.ts'

test('counts the chats of other folders of the workspace, and no others', async () => {
  const place = makePlace()
  const at = (...names: string[]) => {
    const cwd = path.join(place.cwd, ...names)
    mkdirSync(cwd, { recursive: true })
    return { ...place, cwd }
  }
  mkdirSync(path.join(place.cwd, '.git'))
  mkdirSync(path.join(place.cwd, 'nested', '.git'), { recursive: true })
  expect(countElsewhere(place)).toBe(0)
  await seedChat(place, { messages: TURN })
  await seedChat(at('src'), { messages: TURN })
  await seedChat(at('nested'), { messages: TURN })
  await seedChat({ ...place, cwd: path.dirname(place.cwd) }, { messages: TURN })
  expect(countElsewhere(place)).toBe(1)
  expect(countElsewhere(at('lib'))).toBe(2)
  expect(countElsewhere(at('nested'))).toBe(0)
  rmSync(path.join(place.cwd, 'src'), { recursive: true })
  expect(countElsewhere(place)).toBe(0)
})
