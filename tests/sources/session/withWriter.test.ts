import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeWriterId } from '../../../sources/conversation/ids.ts'
import { conversationsFolder } from '../../../sources/conversation/paths.ts'
import { renameBranch } from '../../../sources/session/renameBranch.ts'
import { makePlace, START, seedChat, TURN, takeWriter } from './_session.ts'

it('a command that saves sweeps what killed processes of this host left, and nothing of living ones', async () => {
  const place = makePlace()
  const { chat_id } = await seedChat(place, { messages: TURN })
  const folder = conversationsFolder(place.root)
  const before = readdirSync(folder)
  const living = await takeWriter(place)
  const dead = makeWriterId(os.hostname(), 7, Buffer.alloc(8, 1))
  const kept = `x.events.jsonl.${living.id}`
  for (const name of [kept, `x.events.jsonl.${dead}`, `${chat_id}.event-index.json.0123456789ab.tmp`]) {
    writeFileSync(path.join(folder, name), '')
    const seconds = START.getTime() / 1000 - 7200
    utimesSync(path.join(folder, name), seconds, seconds)
  }
  await renameBranch(place, { branch: '@', name: 'named' })
  expect(readdirSync(folder).toSorted()).toEqual([...before, kept].toSorted())
  await living.release()
})
