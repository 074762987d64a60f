import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { CHAT, Client, type Fault, failing, makeRoot, newId, textStep } from './_store.ts'

/**
 * What the rule for several writers comes to, without a log: each head is the list of its messages, each client stands
 * somewhere. A turn is open until its client ends it.
 */
class Model {
  readonly heads = new Map<string, string[]>([['main', []]])
  readonly open = new Map<string, { client: number; head: string; leaf: string | null }>()
  collisions = 0

  /** Says where the messages of a client go, and puts them there. */
  save(
    { client, head, seen, fresh }: { client: number; head: string; seen: string | null; fresh: string },
    { ids, begins }: { ids: ReadonlyArray<string>; begins: string | null },
  ): string {
    const chain = this.heads.get(head) ?? []
    const known = seen === null ? [] : chain.slice(0, chain.indexOf(seen) + 1)
    const foreign = [...this.open.values()].find((turn) => turn.head === head && turn.client !== client)
    let target = head
    let base = known
    if (foreign !== undefined || known.length !== chain.length) {
      this.collisions += 1
      target = fresh
      const leaf = foreign?.leaf ?? null
      if (foreign !== undefined)
        base = leaf === null ? [] : known.includes(leaf) ? known.slice(0, known.indexOf(leaf) + 1) : known
    }
    if (begins !== null) this.open.set(begins, { client, head: target, leaf: base.at(-1) ?? null })
    this.heads.set(target, [...base, ...ids])
    return target
  }
}

const anyFaults: fc.Arbitrary<ReadonlyArray<Fault>> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constantFrom('short' as const, 'full' as const), bytes: fc.nat(1200) }),
    fc.constant<Fault>({ type: 'sync' }),
  ),
  { maxLength: 2 },
)
const anyAction = fc.record({
  client: fc.nat(2),
  type: fc.constantFrom('say', 'say', 'say', 'begin', 'end', 'reopen'),
  count: fc.integer({ min: 1, max: 3 }),
  faults: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: anyFaults }),
})

describe('several writers of one log', () => {
  it('give every acknowledged message a head, and one branch a collision, in any order of saves', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyAction, { minLength: 2, maxLength: 14 }), async (actions) => {
        const root = makeRoot()
        const model = new Model()
        const first = await Client.begin(root)
        await first.say(['root'])
        model.heads.set('main', [...first.acknowledged])
        const clients = [first, await Client.open(root), await Client.open(root)]
        const turns = new Map<number, string>()
        for (const { client: at, type, count, faults } of actions) {
          const client = clients[at]
          if (client === undefined) continue
          const turn = turns.get(at)
          if (type === 'reopen') {
            // Follows the others: it has nothing of its own that it has not saved.
            client.conversation.refresh()
            client.standing = { head: 'main', seen: client.conversation.head('main').leaf }
            continue
          }
          if (type === 'end') {
            if (turn === undefined) continue
            await client.save([{ type: 'end', turn }], failing(faults))
            model.open.delete(turn)
            turns.delete(at)
            continue
          }
          const begins = type === 'begin' && turn === undefined ? newId() : null
          const ids = Array.from({ length: count }, () => newId())
          const place = { client: at, ...client.standing, fresh: client.freshHead }
          const target = model.save(place, { ids, begins })
          await client.save(
            [
              ...(begins === null ? [] : [{ type: 'begin', turn: begins } as const]),
              ...ids.map((id) => textStep(id, `text of ${id}`, begins ?? turn ?? null)),
            ],
            failing(faults),
          )
          if (begins !== null) turns.set(at, begins)
          expect(client.standing).toEqual({ head: target, seen: ids.at(-1) })
        }
        const read = Conversation.open(root, CHAT)
        const chains = [...read.graph.heads.keys()].map((head) => [
          head,
          read.chain(head).map(({ id }) => id),
        ])
        expect(new Map(chains as Array<[string, string[]]>)).toEqual(model.heads)
        expect([...read.graph.heads.values()].filter(({ kind }) => kind === 'concurrent')).toHaveLength(
          model.collisions,
        )
        expect(read.graph.gaps.size).toBe(0)
        expect([...read.graph.openTurns.keys()].toSorted()).toEqual([...model.open.keys()].toSorted())
        const onHeads = new Set(chains.flatMap(([, ids]) => ids))
        for (const client of clients) for (const id of client.acknowledged) expect(onHeads).toContain(id)
        for (const client of clients) {
          client.conversation.refresh()
          expect(summaryOf(client.conversation)).toEqual(summaryOf(read))
        }
      }),
      { numRuns: 120 },
    )
  })

  it('keep their own heads when they save at the same time, each its own messages in order', async () => {
    const root = makeRoot()
    const first = await Client.begin(root)
    await first.say(['shared'])
    const clients = [first, await Client.open(root), await Client.open(root)]
    await Promise.all(
      clients.map(async (client) => {
        for (let round = 0; round < 15; round++) await client.say([`round ${round}`])
      }),
    )
    const read = Conversation.open(root, CHAT)
    expect(read.graph.heads.size).toBe(3)
    for (const client of clients) {
      expect(read.chain(client.standing.head).map(({ id }) => id)).toEqual(client.acknowledged)
      expect(client.acknowledged).toHaveLength(16)
    }
    expect(read.graph.holes).toEqual([])
  })
})

/** What a replay of the new lines must leave as a replay of all of them does. */
function summaryOf({ graph }: Conversation) {
  return {
    heads: [...graph.heads.values()],
    nodes: [...graph.nodes.values()].map(({ jump, ...node }) => ({ ...node, jump: jump?.id })),
    open: [...graph.openTurns.values()],
    writers: [...graph.writers].toSorted(),
    selected: graph.selected,
  }
}
