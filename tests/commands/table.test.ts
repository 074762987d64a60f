import { expect, it } from 'vitest'
import { alignRows } from '../../commands/terminal/table.ts'

const id = '2026-11-30-161147-3iji:12'
const row = (text: string) => [id, 'tool_call', '2026-11-30T16:11:47.510Z', 'tool: shell', text]
const layout = { dropped: [2, 1, 3] }

/** The clock on the wall here, as a terminal shows it. */
const wall = new Date('2026-11-30T16:11:47.510Z')
  .toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
  .slice(0, 16)

it('shows a time without seconds, where it is', () => {
  expect(alignRows([row('x')], { columns: 200, ...layout })).toBe(
    `${id}  tool_call  ${wall}  tool: shell  x\n`,
  )
})

it('leaves a time in the free text alone', () => {
  expect(alignRows([['a', '2026-11-30T16:11:47Z']], { columns: 80, dropped: [] })).toBe(
    'a  2026-11-30T16:11:47Z\n',
  )
})

it.each([
  [100, [id, 'tool_call', wall, 'tool: shell']],
  [80, [id, 'tool_call', 'tool: shell']],
  [66, [id, 'tool: shell']],
  [50, [id]],
])('fits its rows into %i columns, with whole ids', (columns, kept) => {
  const lines = alignRows([row('y'.repeat(200)), row('')], { columns, ...layout }).split('\n')
  expect(lines[0]).toHaveLength(columns)
  expect(lines[0]).toMatch(/y{15,}…$/)
  expect(lines[0]!.split(/ {2,}/).slice(0, -1)).toEqual(kept)
})

it('leaves the last column some room where nothing else can go', () => {
  const [line] = alignRows([[id, 'z'.repeat(50)]], { columns: 30, dropped: [] }).split('\n')
  expect(line).toBe(`${id}  ${'z'.repeat(15)}…`)
})
