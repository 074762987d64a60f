import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { indexPath, logPath, transcriptPath } from '../../sources/conversation/paths.ts'
import { createBranch } from '../../sources/session/createBranch.ts'
import type { Place } from '../../sources/session/place.ts'
import { expectShape, unreadable } from '../e2e/_shapes.ts'
import { user } from '../sources/conversation/_messages.ts'
import { makePlace, type Seeded, seedChat } from '../sources/session/_session.ts'
import { type Outcome, runHere } from './_run.ts'

/** Runs a command in the folder of a place. */
function cass(place: Place, ...argv: string[]): Promise<Outcome> {
  const { root, cwd, home, pid } = place
  return runHere(argv, { env: { CASS_HOME: root }, cwd, home, pid })
}

interface World {
  readonly place: Place
  readonly current: Seeded
  /** In the family of the current one. */
  readonly child: Seeded
  /** In the folder only. */
  readonly other: Seeded
}

/** Says in a chat's files that it came from another one. */
function adopt(place: Place, child: string, parent: string): void {
  for (const file of [logPath(place.root, child), transcriptPath(place.root, child)]) {
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/"created_at":/, `"parent_chat_id":"${parent}","created_at":`))
  }
  rmSync(indexPath(place.root, child))
}

async function makeWorld(): Promise<World> {
  const place = makePlace()
  const seed = (text: string) => seedChat(place, { messages: [user(text), user(`${text} again`)] })
  const current = await seed('current')
  const child = await seed('child')
  const other = await seed('other')
  adopt(place, child.chat_id, current.chat_id)
  // A branch of it makes its index anew.
  await createBranch(place, { checkpoint: `${child.chat_id}:2:user`, name: 'childish', switchTo: false })
  return { place, current, child, other }
}

/** Makes a log one of another schema, of the same length; behind the first line, of which an index knows. */
function spoil({ root }: Place, id: string, { index }: { readonly index: 'kept' | 'lost' }): void {
  const text = readFileSync(logPath(root, id), 'utf8')
  const from = index === 'kept' ? text.indexOf('\n') : 0
  const spoilt =
    text.slice(0, from) + text.slice(from).replaceAll(/"schema_version":\d/g, '"schema_version":9')
  expect(spoilt).not.toBe(text)
  writeFileSync(logPath(root, id), spoilt)
  if (index === 'lost') rmSync(indexPath(root, id), { force: true })
}

const forget = ({ root }: Place) => rmSync(path.join(root, 'heads'), { recursive: true })

describe('the start of the id of a message', () => {
  it('is found in the family, and in the other chats of the folder', async () => {
    const { place, current, child, other } = await makeWorld()
    for (const { chat_id, ids } of [current, child, other]) {
      const { stdout, exitCode } = await cass(place, 'resolve', `^${ids[1] ?? ''}`)
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${chat_id}:3:user\n` })
    }
  })

  it('is found in the chats of a folder without a current branch', async () => {
    const { place, current, child, other } = await makeWorld()
    forget(place)
    for (const { chat_id, ids } of [current, child, other]) {
      expect(await cass(place, 'resolve', `^${ids[0] ?? ''}`)).toMatchObject({
        ...{ exitCode: 0, stdout: `${chat_id}:2:user\n` },
      })
    }
  })

  it('is not found in a chat of another folder', async () => {
    const { place, other } = await makeWorld()
    const elsewhere = { ...place, cwd: place.home }
    const { exitCode, stderr } = await cass(elsewhere, 'resolve', `^${other.ids[0] ?? ''}`)
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no message') })
  })

  describe.each(['kept', 'lost'] as const)('beside a log of another schema, its index %s,', (index) => {
    it('is found all the same', async () => {
      for (const bad of ['child', 'other'] as const) {
        const { place, ...chats } = await makeWorld()
        spoil(place, chats[bad].chat_id, { index })
        const good = bad === 'child' ? ['current', 'other'] : ['current', 'child']
        for (const isForgotten of [false, true]) {
          if (isForgotten) forget(place)
          for (const name of ['current', 'child', 'other'] as const) {
            const { exitCode, stdout, stderr } = await cass(place, 'resolve', `^${chats[name].ids[0] ?? ''}`)
            const isGood = good.includes(name)
            expect({ bad, isForgotten, name, exitCode, stdout, stderr }).toMatchObject({
              ...{ bad, isForgotten, name, exitCode: isGood ? 0 : 1 },
              stdout: isGood ? `${chats[name].chat_id}:2:user\n` : '',
              stderr: isGood ? '' : expect.stringMatching(/^error: no message /),
            })
          }
        }
      }
    })
  })
})

describe.each(['kept', 'lost'] as const)(
  'beside a log of another schema in the family, its index %s,',
  (index) => {
    async function makeSpoilt() {
      const world = await makeWorld()
      const before = await cass(world.place, 'checkpoints', '--family')
      expect(before).toMatchObject({ exitCode: 0, stderr: '' })
      expect(before.stdout).toContain(world.child.chat_id)
      spoil(world.place, world.child.chat_id, { index })
      return world
    }
    const warning = (id: string) =>
      `warning: conversation '${id}' is left out: the log has schema version '9'`

    it('checkpoints --family lists the others, and warns', async () => {
      const { place, current, child } = await makeSpoilt()
      const { exitCode, stdout, stderr } = await cass(place, 'checkpoints', '--family')
      expect({ exitCode, stdout, stderr }).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining(warning(child.chat_id)),
      })
      expect(stdout).toContain(`${current.chat_id}:3:user\t`)
      expect(stdout).not.toContain(child.chat_id)
      const json = JSON.parse((await cass(place, 'checkpoints', '--family', '--json')).stdout)
      expectShape(json.unreadable, [unreadable])
      expect(json.unreadable).toMatchObject([{ conversation: child.chat_id, code: 'log_unknown_schema' }])
      expect(Object.keys(json).toSorted()).toEqual(['chat_id', 'checkpoints', 'conversation', 'unreadable'])
    })

    it('log --graph shows the others, and warns of what it cannot read', async () => {
      const { place, current, child } = await makeSpoilt()
      const { exitCode, stdout, stderr } = await cass(place, 'log', '--graph')
      expect({ exitCode, stdout }).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining(current.chat_id),
      })
      // With its index the tree needs no log.
      if (index === 'kept') expect(stdout).toContain(child.chat_id)
      else expect(stderr).toContain(warning(child.chat_id))
    })
  },
)
