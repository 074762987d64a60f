import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { readCurrentBranch } from '../../../sources/conversation/currentBranch.ts'
import { saveConversation } from '../../../sources/conversation/save.ts'
import { WriterLock } from '../../../sources/conversation/writers.ts'
import { CassError } from '../../../sources/errors.ts'
import { createBranch } from '../../../sources/session/createBranch.ts'
import { findBranch } from '../../../sources/session/findBranch.ts'
import { listBranches } from '../../../sources/session/listBranches.ts'
import { locatePlace } from '../../../sources/session/locatePlace.ts'
import type { Place } from '../../../sources/session/place.ts'
import { renameBranch } from '../../../sources/session/renameBranch.ts'
import { resolveSpec } from '../../../sources/session/resolveSpec.ts'
import { retireBranch } from '../../../sources/session/retireBranch.ts'
import { switchBranch } from '../../../sources/session/switchBranch.ts'
import { demoTurn, later, makePlace, seedChat, TURN, takeWriter } from './_session.ts'

async function makeChat() {
  const place = makePlace()
  const { chat_id } = await seedChat(place, { messages: TURN })
  const make = async (name: string) =>
    (await createBranch(place, { checkpoint: `${chat_id}:2:user`, name, switchTo: false })).chat_id
  const retire = (branch: string) => retireBranch(later(place, 61_000), { branch })
  return { place, chat_id, make, retire }
}

const found = (place: Place, name: string) => findBranch(place, { type: 'named', name }).chat_id

describe('main', () => {
  it('names the first branch of the current conversation, also from another of its branches', async () => {
    const { place, chat_id, make } = await makeChat()
    await make('mainline')
    await switchBranch(place, { branch: 'mainline' })
    expect(found(place, 'main')).toBe(chat_id)
    expect(await resolveSpec(place, 'main')).toEqual({ kind: 'branch', id: chat_id })
    expect(locatePlace(place, 'main:2')).toMatchObject({ chat_id })
    const target = { type: 'branch', branch: 'main' } as const
    expect((await demoTurn(place, { target })).outcome.chat_id).toBe(chat_id)
    expect(await switchBranch(place, { branch: 'main' })).toMatchObject({ chat_id })
  })

  it('is refused as the name of a branch, and names nothing in a folder without a chat', async () => {
    const { place, make } = await makeChat()
    await make('x')
    const refusal = { code: 'bad_branch_name', kind: 'usage' }
    await expect(make('main')).rejects.toMatchObject(refusal)
    await expect(renameBranch(place, { branch: 'x', name: 'main' })).rejects.toMatchObject(refusal)
    expect(() => found(makePlace(), 'main')).toThrow("no branch is named 'main'")
  })

  it('is the branch that another program named so, where there is one', async () => {
    const { place, chat_id } = await makeChat()
    const conversation = Conversation.open(place.root, chat_id)
    const writer = await takeWriter(place)
    const at = place.now().toISOString()
    const options = { checkpoint: `${chat_id}:2:user`, name: null, switchTo: false }
    const { chat_id: id } = await createBranch(place, options)
    await saveConversation(conversation, {
      ...{ writer, now: place.now },
      plan: () => [{ type: 'rename', head: id, writer: writer.id, at, name: 'main' }],
    })
    await writer.release()
    expect(found(place, 'main')).toBe(id)
  })
})

describe('the name of a retired branch', () => {
  it('that was given away again is that of the living one, to every verb', async () => {
    const { place, chat_id, make, retire } = await makeChat()
    const old = await make('x')
    await retire('x')
    const living = await make('x')
    expect(living).not.toBe(old)
    expect(await resolveSpec(place, 'x')).toEqual({ kind: 'branch', id: living })
    expect(locatePlace(place, 'x:2')).toMatchObject({ chat_id: living })
    expect(await switchBranch(place, { branch: 'x' })).toMatchObject({ chat_id: living })
    await switchBranch(place, { branch: chat_id })
    const { outcome } = await demoTurn(place, { target: { type: 'branch', branch: 'x' } })
    expect(outcome.chat_id).toBe(living)
  })

  it('still names it while nobody else has it, and what may not be done with it is refused', async () => {
    const { place, make, retire } = await makeChat()
    const old = await make('x')
    await retire(old)
    expect(await resolveSpec(place, 'x')).toEqual({ kind: 'branch', id: old })
    await expect(switchBranch(place, { branch: 'x' })).rejects.toMatchObject({ code: 'branch_retired' })
    await expect(demoTurn(place, { target: { type: 'branch', branch: 'x' } })).rejects.toMatchObject({
      code: 'branch_retired',
    })
    expect(await retire('x')).toMatchObject({ chat_id: old, retired: true })
  })

  it('is not taken for the beginning of the name of a living one', async () => {
    const { place, make, retire } = await makeChat()
    const old = await make('x')
    await retire(old)
    const longer = await make('x-again')
    expect(found(place, 'x')).toBe(old)
    expect(found(place, 'x-')).toBe(longer)
    const living = await make('x')
    expect(found(place, 'x')).toBe(living)
  })

  it('is of no account in the beginning of a name, where a living branch has the same', async () => {
    const { place, make, retire } = await makeChat()
    await make('parser')
    await retire('parser')
    const living = await make('parsing')
    expect(found(place, 'pars')).toBe(living)
    await retire('parsing')
    expect(() => found(place, 'pars')).toThrow(expect.objectContaining({ code: 'branch_ambiguous' }))
  })
})

describe('a name that a living branch has', () => {
  const name = fc.constantFrom('x', 'xy', 'z')
  const at = fc.nat({ max: 7 })
  const step = fc.oneof(
    fc.record({ type: fc.constant('make' as const), name }),
    fc.record({ type: fc.constant('retire' as const), at }),
    fc.record({ type: fc.constant('rename' as const), at, name }),
  )

  it('names that branch, whatever was named, retired and renamed before', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        const { place, make, retire } = await makeChat()
        const branches: Array<{ id: string; name: string; retired: boolean }> = []
        const holder = (wanted: string) => branches.find((each) => each.name === wanted && !each.retired)
        for (const each of steps) {
          if (each.type === 'make') {
            const made = await refusable(make(each.name))
            expect(made === null).toBe(holder(each.name) !== undefined)
            if (made !== null) branches.push({ id: made, name: each.name, retired: false })
          } else {
            const branch = branches[each.at % Math.max(1, branches.length)]
            if (branch === undefined) continue
            if (each.type === 'retire') {
              await retire(branch.id)
              branch.retired = true
            } else {
              const isTaken = branch.name !== each.name && holder(each.name) !== undefined
              const renamed = await refusable(renameBranch(place, { branch: branch.id, name: each.name }))
              expect(renamed === null).toBe(isTaken)
              if (!isTaken) branch.name = each.name
            }
          }
          for (const living of branches.filter(({ retired }) => !retired)) {
            expect({ name: living.name, found: found(place, living.name) }).toEqual({
              ...{ name: living.name, found: living.id },
            })
          }
          for (const { id, name: own } of branches.filter(({ retired }) => retired)) {
            const namesakes = branches.filter((other) => other.name === own)
            if (namesakes.length === 1) expect(found(place, own)).toBe(id)
          }
        }
        expect((await listBranches(place, { all: false, retired: true })).branches).toHaveLength(
          branches.length + 1,
        )
      }),
      { numRuns: 12 },
    )
  })
})

/** Null when the name is another's. */
async function refusable<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof CassError && error.code === 'branch_name_taken') return null
    throw error
  }
}

describe('a branch that one process switches to and another one retires', () => {
  it('is never both retired and current', { timeout: 120_000 }, async () => {
    const { place, chat_id, make } = await makeChat()
    const outcomes = new Set<string>()
    for (let round = 0; round < 40; round++) {
      const branch = await make(`b${round}`)
      const after = later(place, 61_000)
      // Who comes first is left to the locks; the start is moved about so that both get their turn.
      const both = [() => switchBranch(place, { branch }), () => retireBranch(after, { branch })]
      const results = await Promise.allSettled((round % 2 === 0 ? both : both.toReversed()).map((go) => go()))
      const isCurrent = readCurrentBranch(place.root, place.cwd)?.chat_id === branch
      const { branches } = await listBranches(place, { all: false, retired: true })
      const isRetired = branches.find((each) => each.chat_id === branch)?.retired === true
      expect({ round, both: isCurrent && isRetired, results }).toMatchObject({ round, both: false })
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      outcomes.add(isCurrent ? 'current' : 'retired')
      if (isCurrent) await switchBranch(place, { branch: chat_id })
    }
    expect([...outcomes].toSorted()).toEqual(['current', 'retired'])
  })

  it('is not made current when it was retired between the look at it and the switch', async () => {
    const { place, chat_id, make, retire } = await makeChat()
    const branch = await make('x')
    const take = WriterLock.take.bind(WriterLock)
    let isRetired = false
    // A switch becomes a writer when it has found the branch.
    const taking = vi.spyOn(WriterLock, 'take').mockImplementation(async (...as) => {
      if (!isRetired) {
        isRetired = true
        await retire(branch)
      }
      return await take(...as)
    })
    try {
      await expect(switchBranch(place, { branch })).rejects.toMatchObject({ code: 'branch_retired' })
    } finally {
      taking.mockRestore()
    }
    expect(readCurrentBranch(place.root, place.cwd)?.chat_id).toBe(chat_id)
  })
})
