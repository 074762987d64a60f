import { readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { logPath } from '../../../sources/conversation/paths.ts'
import { saveConversation } from '../../../sources/conversation/save.ts'
import { assistant, call, result } from './_messages.ts'
import { CHAT, Client, makeRoot, newChat, newId, now, rootWithLog, textStep, textsOf } from './_store.ts'

/** A log with a turn, a branch behind an older message, a concurrent branch, a name and a selection. */
async function makeLog(): Promise<Buffer> {
  const root = makeRoot()
  const main = await Client.begin(root)
  const [, first = ''] = await main.say(['system text', 'first question'])
  const turn = newId()
  await main.save([
    { type: 'begin', turn },
    textStep(newId(), 'second question — with “quotes” and "msgs":[', turn),
    { type: 'message', id: newId(), turn, fs: 12, ws: 'w', message: assistant('I look', call('c1')) },
    { type: 'message', id: newId(), turn, fs: 34, ws: 'w', message: result('c1', 'what was found') },
    { type: 'message', id: newId(), turn, fs: 34, ws: 'w', message: assistant('the answer') },
    { type: 'end', turn },
  ])
  const other = await Client.open(root)
  await main.say(['third question'])
  await other.say(['concurrent question', 'concurrent answer'])
  const head = newChat()
  const { id } = main.writer
  const at = now().toISOString()
  await saveConversation(main.conversation, {
    ...{ writer: main.writer, now },
    plan: () => [
      {
        ...({
          type: 'fork',
          head: 'main',
          writer: id,
          at,
          new_head: head,
          from: first,
          kind: 'fork',
        } as const),
        ...{ name: 'try', checkpoint: { record_index: 3, label: 'user' } },
      },
      { type: 'select', head, writer: id, at, reason: 'fork' },
    ],
  })
  const branch = await Client.open(root, head)
  await branch.say(['branch question', 'branch answer'])
  await main.say(['fourth question'])
  return readFileSync(logPath(root, CHAT))
}

/** The texts of each head, by head. */
function branches(conversation: Conversation): Map<string, string[]> {
  return new Map([...conversation.graph.heads.keys()].map((head) => [head, textsOf(conversation, head)]))
}

/** Opens a damaged log, or tells why it is refused; the whole format is refused, never read wrongly. */
function openOrCode(root: string): Conversation | string {
  try {
    return Conversation.open(root, CHAT)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
}

/** The texts of the messages whose lines stand whole in the bytes; a last line without its end counts when it parses. */
function wholeTexts(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        const { type, msgs } = JSON.parse(line)
        return type === 'message' ? [String(msgs[0].content)] : []
      } catch {
        return []
      }
    })
}

/** Appends to a branch, and expects that all that was there still is, with the new message behind it. */
async function expectGoesOn(root: string, head: string): Promise<void> {
  const before = branches(Conversation.open(root, CHAT))
  const old = readFileSync(logPath(root, CHAT))
  const client = await Client.open(root, head)
  // A turn whose end is lost is of a process that is gone by now.
  client.deadWriters = new Set(client.conversation.graph.writers)
  await client.say(['goes on'])
  const after = branches(Conversation.open(root, CHAT))
  expect(after.get(head)).toEqual([...(before.get(head) ?? []), 'goes on'])
  for (const [other, texts] of before) if (other !== head) expect(after.get(other)).toEqual(texts)
  expect(readFileSync(logPath(root, CHAT)).subarray(0, old.length).equals(old)).toBe(true)
}

describe('a log that is cut', () => {
  it('has every message before the cut, at every byte, and the next append works', async () => {
    const log = await makeLog()
    const root = rootWithLog(log)
    for (let cut = 0; cut <= log.length; cut++) {
      const bytes = log.subarray(0, cut)
      const texts = wholeTexts(bytes)
      writeFileSync(logPath(root, CHAT), bytes)
      const opened = openOrCode(root)
      if (typeof opened === 'string') {
        expect({ cut, opened, texts }).toEqual({ cut, opened: 'conversation_empty', texts: [] })
        continue
      }
      const found = [...opened.graph.nodes.values()]
      expect({ cut, gaps: [...opened.graph.gaps], holes: opened.graph.holes }).toEqual({
        cut,
        gaps: [],
        holes: [],
      })
      expect({
        cut,
        texts: opened.items(found, 'whole', 'main').map(({ message }) => message.content),
      }).toEqual({
        cut,
        texts,
      })
      const onHeads = new Set([...opened.graph.heads.keys()].flatMap((head) => opened.chain(head)))
      expect({ cut, size: onHeads.size }).toEqual({ cut, size: found.length })
      if (cut % 53 === 0 || cut === log.length)
        await expectGoesOn(rootWithLog(bytes), [...opened.graph.heads.keys()].at(-1) ?? '')
    }
  }, 120_000)
})

describe('a log with a damaged line', () => {
  const refusals = ['log_unknown_type', 'log_unknown_schema']

  /** Expects that at most the texts of some lines are lost, on every branch, and nothing changed its order. */
  function expectLosesOnly(
    original: Map<string, string[]>,
    damaged: Conversation,
    lost: ReadonlyArray<string>,
  ) {
    const now = branches(damaged)
    const all = [...now.values()]
    for (const texts of original.values()) {
      const kept = texts.filter((text) => !lost.includes(text))
      // A branch whose own line is lost goes by its messages; one that never had any is only that line.
      const holder = all.find((each) => isInOrder(kept, each))
      expect({ kept, holder: holder !== undefined, all: holder === undefined ? all : [] }).toEqual({
        ...{ kept, holder: true, all: [] },
      })
    }
  }

  it('loses at most that line when bits flip, bytes become NUL or bad UTF-8, or the line is garbage', async () => {
    const log = await makeLog()
    const lines = log.toString('latin1').trimEnd().split('\n')
    const original = branches(Conversation.open(rootWithLog(log), CHAT))
    const anyDamage = fc.record({
      line: fc.nat(lines.length - 1),
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      kind: fc.oneof(
        fc.record({ type: fc.constant('flip' as const), bit: fc.nat(7) }),
        fc.record({ type: fc.constant('nul' as const) }),
        fc.record({ type: fc.constant('bad' as const) }),
        fc.record({
          type: fc.constant('garbage' as const),
          text: fc.string({ unit: 'binary', maxLength: 40 }),
        }),
        fc.record({ type: fc.constant('torn' as const) }),
        fc.record({ type: fc.constant('gone' as const) }),
      ),
    })
    await fc.assert(
      fc.asyncProperty(anyDamage, async ({ line: number, at, kind }) => {
        const line = Buffer.from(lines[number] ?? '', 'latin1')
        const place = Math.floor(at * line.length)
        let damaged: Buffer = Buffer.from(line)
        if (kind.type === 'flip') damaged[place] = (damaged[place] ?? 0) ^ (1 << kind.bit)
        if (kind.type === 'nul') damaged[place] = 0
        if (kind.type === 'bad') damaged[place] = 0xff
        if (kind.type === 'garbage') damaged = Buffer.from(kind.text.replaceAll('\n', ' '))
        if (kind.type === 'torn') damaged = damaged.subarray(0, place)
        const before = lines.slice(0, number).map((each) => `${each}\n`)
        const after = lines.slice(number + 1).map((each) => `${each}\n`)
        const end = kind.type === 'gone' ? '' : '\n'
        const bytes = Buffer.concat([
          Buffer.from(before.join(''), 'latin1'),
          kind.type === 'gone' ? Buffer.alloc(0) : damaged,
          Buffer.from(end + after.join(''), 'latin1'),
        ])
        const root = rootWithLog(bytes)
        const opened = openOrCode(root)
        if (typeof opened === 'string') {
          // A type or a version that is not known cannot be told from one of a later program.
          expect(kind.type).toBe('flip')
          expect(refusals).toContain(opened)
          expect(readFileSync(logPath(root, CHAT)).equals(bytes)).toBe(true)
          return
        }
        const lost = lostTexts(line)
        expectLosesOnly(original, opened, lost)
        if (place % 4 === 0) await expectGoesOn(root, 'main')
      }),
      { numRuns: 400 },
    )
  }, 120_000)

  it('loses no message beside the two when two lines are glued', async () => {
    const log = await makeLog()
    const original = branches(Conversation.open(rootWithLog(log), CHAT))
    const breaks = [...log.keys()].filter((at) => log[at] === 0x0a).slice(0, -1)
    for (const at of breaks) {
      const glued = Buffer.concat([log.subarray(0, at), log.subarray(at + 1)])
      const root = rootWithLog(glued)
      const opened = Conversation.open(root, CHAT)
      const start = log.lastIndexOf(0x0a, at - 1) + 1
      const second = log.indexOf(0x0a, at + 1)
      const lost = [log.subarray(start, at), log.subarray(at + 1, second)].flatMap(lostTexts)
      expectLosesOnly(original, opened, lost)
      await expectGoesOn(root, 'main')
    }
  })
})

function lostTexts(line: Buffer): string[] {
  const { msgs } = JSON.parse(line.toString('utf8'))
  return msgs === undefined ? [] : [msgs[0].content]
}

/** Whether all of `wanted` stand in `texts`, in the same order. */
function isInOrder(wanted: ReadonlyArray<string>, texts: ReadonlyArray<string>): boolean {
  let at = 0
  for (const text of texts) if (text === wanted[at]) at += 1
  return at === wanted.length
}
