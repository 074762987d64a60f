import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AnswerReply, Step } from '../../../../fixtures/provider/server.mjs'
import { streamActions } from '../../../../fixtures/provider/wire.mjs'
import { AnswerBuilder } from '../../../../sources/agent/provider/answer.ts'
import { EventStreamReader } from '../../../../sources/agent/provider/eventStream.ts'
import { makeTestModel, startScripted } from './_provider.ts'

const text = fc.string({ unit: 'binary', maxLength: 12 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ text: fc.array(text, { maxLength: 4 }) }),
  fc.record({ reasoning: fc.array(text, { maxLength: 3 }) }),
  fc.record({ comment: fc.constantFrom('ping', 'data: {"x"', '') }),
)
const reply: fc.Arbitrary<AnswerReply> = fc.record({
  steps: fc.array(step, { maxLength: 6 }),
  calls: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      name: fc.constantFrom('read', 'ls'),
      arguments: fc.dictionary(text, text),
      pieces: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 3, selector: (call) => call.id },
  ),
  usage: fc.constantFrom({ prompt_tokens: 3, completion_tokens: 4 }, { prompt_tokens: 0 }),
  eol: fc.constantFrom('\n', '\r\n', '\r'),
  done: fc.boolean(),
})

const request = { n: 1, model: 'scripted', withUsage: true }
const makeCallId = () => 'fresh'

/** What a client makes of an answer whose bytes are cut at these places. */
function readCut(bytes: Buffer, places: ReadonlyArray<number>) {
  const reader = new EventStreamReader()
  const edges = [0, ...places.map((place) => place % (bytes.length + 1)).sort((x, y) => x - y), bytes.length]
  const frames = edges.slice(1).map((edge, i) => reader.push(bytes.subarray(edges[i], edge)))
  const builder = new AnswerBuilder()
  for (const frame of `${frames.join('')}${reader.end()}`.split('\n\n').filter((one) => one !== '')) {
    const data = frame.slice('data: '.length)
    if (data !== '[DONE]') builder.push(JSON.parse(data))
  }
  return builder.finish({ isEnded: reader.isDone, makeCallId })
}

describe('any cut of the bytes', () => {
  test('gives the same answer, which is the one that was sent', () => {
    fc.assert(
      fc.property(reply, fc.array(fc.nat(), { maxLength: 12 }), (sent, places) => {
        const bytes = Buffer.concat(
          streamActions(sent, request).map((action) => ('bytes' in action ? action.bytes : Buffer.alloc(0))),
        )
        const steps = sent.steps ?? []
        const joined = (name: 'text' | 'reasoning') =>
          steps.flatMap((one) => (name in one ? Object.values(one).flat() : [])).join('')
        const whole = readCut(bytes, [])
        expect(whole).toMatchObject({
          text: joined('text'),
          reasoning: joined('reasoning'),
          tool_calls: (sent.calls ?? []).map(({ id, name, arguments: value }) => ({
            id,
            name,
            arguments: JSON.stringify(value),
          })),
        })
        expect(readCut(bytes, places)).toEqual(whole)
        expect(readCut(bytes, [...bytes.keys()])).toEqual(whole)
      }),
      { numRuns: 150 },
    )
  })

  test('gives the same answer over the network', async () => {
    await fc.assert(
      fc.asyncProperty(
        reply,
        fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 8 }),
        async (sent, cutBytes) => {
          const { url, close } = await startScripted([sent, { ...sent, cutBytes }])
          const { ask } = makeTestModel(url)
          const whole = await ask()
          expect(await ask()).toEqual(whole)
          await close()
        },
      ),
      { numRuns: 25 },
    )
  })

  test('an end at any byte is an error or the whole answer, never another answer', () => {
    const sent: AnswerReply = {
      text: ['Grüße', ' 🎉'],
      calls: [{ id: 'a', name: 'read', arguments: { path: 'ä' } }],
      eol: '\r\n',
    }
    const bytes = Buffer.concat(
      streamActions(sent, request).map((action) => ('bytes' in action ? action.bytes : Buffer.alloc(0))),
    )
    const whole = readCut(bytes, [])
    const ends = [...bytes.keys()].map((end) => readCut(bytes.subarray(0, end), []))
    expect(ends.filter((answer) => answer !== null).length).toBeGreaterThan(0)
    for (const answer of ends) if (answer !== null) expect(answer).toEqual(whole)
  })
})
