import { mkdirSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversationsFolder, transcriptPath } from '../../../sources/conversation/paths.ts'
import { timeOf } from '../../../sources/conversation/timestamp.ts'
import { listCheckpoints } from '../../../sources/session/listCheckpoints.ts'
import { makeCurrent } from '../../../sources/session/makeCurrent.ts'
import type { Place } from '../../../sources/session/place.ts'
import { makePlace } from './_session.ts'

const PARENT = '2026-06-25-101533-aaaa'
const CHILD = '2026-06-25-101533-bbbb'

/** A chat of another program. */
function writeChat(place: Place, id: string, { parent, times }: { parent?: string; times: string[] }): void {
  mkdirSync(conversationsFolder(place.root), { recursive: true })
  const meta = {
    type: 'meta',
    chat_id: id,
    created_at: times[0],
    model: 'm',
    cwd: place.cwd,
    parent_chat_id: parent,
  }
  const records = [
    meta,
    { type: 'system', content: 's' },
    ...times.map((ts) => ({ type: 'user', content: ts, ts })),
  ]
  writeFileSync(
    transcriptPath(place.root, id),
    records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  )
}

async function timesOfFamily(parent: string[], child: string[]): Promise<string[]> {
  const place = makePlace()
  writeChat(place, PARENT, { times: parent })
  writeChat(place, CHILD, { parent: PARENT, times: child })
  await makeCurrent(place, { seen: null, next: { chat_id: PARENT, conversation: PARENT } })
  const { checkpoints } = await listCheckpoints(place, {
    branch: null,
    family: true,
    kinds: ['user'],
    limit: null,
  })
  expect(checkpoints).toHaveLength(parent.length + child.length)
  return checkpoints.map(({ ts }) => ts)
}

describe('the checkpoints of a family', () => {
  it('are in the order of their times, however these are written', async () => {
    const parent = ['2026-06-25T10:00:00+00:00', '2026-06-25T10:00:00.5+00:00', '2026-06-25T12:00:02+02:00']
    const child = ['2026-06-25T10:00:00.25Z', '2026-06-25T10:00:01.123456789Z', '2026-06-25T09:00:03-01:00']
    expect(await timesOfFamily(parent, child)).toEqual([
      ...['2026-06-25T10:00:00+00:00', '2026-06-25T10:00:00.25Z', '2026-06-25T10:00:00.5+00:00'],
      ...['2026-06-25T10:00:01.123456789Z', '2026-06-25T12:00:02+02:00', '2026-06-25T09:00:03-01:00'],
    ])
  })

  it('are so for any times', async () => {
    const time = fc
      .record({
        second: fc.integer({ min: 0, max: 59 }),
        fraction: fc.option(fc.stringMatching(/^\d{1,9}$/)),
        zone: fc.constantFrom('Z', '+00:00', '-00:00'),
      })
      .map(({ second, fraction, zone }) => {
        const seconds = String(second).padStart(2, '0')
        return `2026-06-25T10:00:${seconds}${fraction === null ? '' : `.${fraction}`}${zone}`
      })
    const times = fc.array(time, { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(times, times, async (parent, child) => {
        const millis = (await timesOfFamily(parent, child)).map(referenceOf)
        expect(millis).toEqual(millis.toSorted((a, b) => a - b))
      }),
      { numRuns: 30 },
    )
  })

  it('stand first where the time is none', async () => {
    expect(timeOf('yesterday')).toBe(0)
    expect(await timesOfFamily(['2026-06-25T10:00:00Z'], ['yesterday'])).toEqual([
      'yesterday',
      '2026-06-25T10:00:00Z',
    ])
  })
})

/** Read by hand, to the millisecond. */
function referenceOf(text: string): number {
  const [, seconds = '0', fraction = ''] = /:(\d\d)(?:\.(\d+))?[Z+-]/.exec(text.slice(16)) ?? []
  return Number(seconds) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
}
