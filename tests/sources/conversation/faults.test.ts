import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkConversation } from '../../../sources/conversation/checkLog.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { logPath } from '../../../sources/conversation/paths.ts'
import { CHAT, Client, type Fault, failing, linesOf, makeRoot, newId, textStep, textsOf } from './_store.ts'

const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ type: fc.constantFrom('short' as const, 'full' as const), bytes: fc.nat(1500) }),
  fc.constant<Fault>({ type: 'sync' }),
)

/** The message lines that stand on their own: each counts once, however often it was written. */
function messageIds(root: string): Array<unknown> {
  return readFileSync(logPath(root, CHAT), 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        const { type, id } = JSON.parse(line)
        return type === 'message' ? [id] : []
      } catch {
        return []
      }
    })
}

describe('a save whose writes fail', () => {
  it('acknowledges everything once, whatever fails before a try succeeds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyFault, { maxLength: 2 }), { minLength: 1, maxLength: 4 }),
        async (saves) => {
          const root = makeRoot()
          const client = await Client.begin(root)
          let said = 0
          const texts: string[] = []
          for (const faults of saves) {
            const some = [`text ${said}`, `text ${said + 1}`]
            said += 2
            texts.push(...some)
            await client.say(some, failing(faults))
          }
          const read = Conversation.open(root, CHAT)
          expect(read.chain('main').map(({ id }) => id)).toEqual(client.acknowledged)
          expect(textsOf(read, 'main')).toEqual(texts)
          expect([...read.graph.heads.keys()]).toEqual(['main'])
          expect(read.graph.gaps.size).toBe(0)
          await client.conversation.refresh()
          expect(client.conversation.chain('main').map(({ id }) => id)).toEqual(client.acknowledged)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('fails as a whole when it keeps failing, loses nothing, and the next one works', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFault, { minLength: 3, maxLength: 3 }),
        fc.boolean(),
        async (faults, isNew) => {
          const root = makeRoot()
          const client = await Client.begin(root)
          if (!isNew) await client.say(['before'])
          const old = isNew ? Buffer.alloc(0) : readFileSync(logPath(root, CHAT))
          const turn = newId()
          const ids = [newId(), newId()]
          const steps = [
            { type: 'begin', turn } as const,
            ...ids.map((id) => textStep(id, `text of ${id}`, turn)),
            { type: 'end', turn } as const,
          ]
          await expect(client.save(steps, failing(faults))).rejects.toMatchObject({ code: 'save_failed' })
          if (!isNew) expect(readFileSync(logPath(root, CHAT)).subarray(0, old.length).equals(old)).toBe(true)
          await client.save(steps)
          const read = Conversation.open(root, CHAT)
          const texts = ids.map((id) => `text of ${id}`)
          expect(textsOf(read, 'main')).toEqual(isNew ? texts : ['before', ...texts])
          expect(read.chain('main').map(({ id }) => id)).toEqual(client.acknowledged)
          expect(read.graph.openTurns.size).toBe(0)
          expect(read.graph.heads.size).toBe(1)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('leaves no log behind when a new chat could not be written', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    const full: Fault = { type: 'full', bytes: 100 }
    await expect(client.say(['one'], failing([full, full, full]))).rejects.toMatchObject({
      code: 'save_failed',
      message: expect.stringContaining('ENOSPC'),
    })
    expect(() => Conversation.open(root, CHAT)).toThrow(
      expect.objectContaining({ code: 'conversation_not_found' }),
    )
  })

  it('writes the whole batch again after a failed sync, its first lines too', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['zero'])
    const other = await Client.open(root)
    const ids = await other.say(['one', 'two'], failing([{ type: 'sync' }]))
    expect(messageIds(root).slice(1)).toEqual([...ids, ...ids])
    expect(
      linesOf(root).filter(({ writer, type }) => type === 'writer' && writer === other.writer.id),
    ).toHaveLength(2)
    expect(textsOf(Conversation.open(root, CHAT), 'main')).toEqual(['zero', 'one', 'two'])
  })

  it('goes on where a write was cut, with the same ids', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['zero'])
    const one = newId()
    const two = newId()
    const steps = [textStep(one, 'one'), textStep(two, 'two')]
    // The first line and a part of the second one.
    await client.save(steps, failing([{ type: 'short', bytes: 700 }]))
    const ids = messageIds(root)
    expect(ids.filter((id) => id === two)).toHaveLength(1)
    expect(textsOf(Conversation.open(root, CHAT), 'main')).toEqual(['zero', 'one', 'two'])
    expect(checkConversation(root, CHAT).findings.map(({ code }) => code)).toEqual(['log_torn_append'])
  })

  it('forks once, also when the fork itself had to be written in two tries', async () => {
    for (let bytes = 0; bytes < 1300; bytes += 50) {
      const root = makeRoot()
      const first = await Client.begin(root)
      await first.say(['shared'])
      const second = await Client.open(root)
      await first.say(['mine'])
      const turn = newId()
      await second.save(
        [{ type: 'begin', turn }, textStep(newId(), 'also mine', turn), { type: 'end', turn }],
        failing([{ type: 'short', bytes }]),
      )
      const read = Conversation.open(root, CHAT)
      expect([...read.graph.heads.keys()]).toEqual(['main', second.standing.head])
      expect(textsOf(read, 'main')).toEqual(['shared', 'mine'])
      expect(textsOf(read, second.standing.head)).toEqual(['shared', 'also mine'])
      expect(read.graph.openTurns.size).toBe(0)
    }
  })
})
