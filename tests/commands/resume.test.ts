import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { user } from '../sources/conversation/_messages.ts'
import { makePlace, seedChat } from '../sources/session/_session.ts'
import { runHere } from './_run.ts'

it('--resume without an id lists chats with the options of that list, and refuses others', async () => {
  const place = makePlace()
  const elsewhere = { ...place, cwd: path.join(place.home, 'elsewhere') }
  mkdirSync(elsewhere.cwd)
  const here = await seedChat(place, { messages: [user('about apples')] })
  const there = await seedChat(elsewhere, { messages: [user('about pears')] })
  const run = (...argv: string[]) => {
    const { root, cwd, home, pid } = place
    return runHere(argv, { env: { CASS_HOME: root }, cwd, home, pid })
  }
  const listed = async (...argv: string[]) => {
    const { exitCode, stdout } = await run(...argv, '--json')
    expect(exitCode).toBe(0)
    return JSON.parse(stdout).chats.map(({ chat_id }: { chat_id: string }) => chat_id)
  }
  expect(await listed('--resume')).toEqual([here.chat_id])
  expect((await listed('--resume', '--all')).toSorted()).toEqual([here.chat_id, there.chat_id].toSorted())
  expect(await listed('--resume', '--all', '--search', 'pears')).toEqual([there.chat_id])
  expect(await run('--resume', '--all')).toEqual(await run('chats', '--all'))
  for (const option of ['--demo', '--bogus']) {
    const { exitCode, stderr } = await run('--resume', option)
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`'${option}'`),
    })
  }
})
