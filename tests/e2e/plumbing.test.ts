import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chat,
  checkpoint,
  expectShape,
  finding,
  forkedBranch,
  mainBranch,
  records,
  state,
  unreadable,
} from './_shapes.ts'
import { call, endWorld, makeWorld, type World } from './_world.ts'

/** One conversation for all tests of this file, which only read it. */
let world: World
let main: string
let fork: string

const prompt = 'first\tline \\ one\nsecond line'

beforeAll(async () => {
  world = await makeWorld()
  world.provider.setScript([
    {
      text: 'Looking.',
      calls: [
        {
          id: 'call_edit',
          name: 'edit',
          arguments: { path: 'src/money.js', edits: [{ old_text: 'padStart(3', new_text: 'padStart(4' }] },
        },
        { id: 'call_write', name: 'write', arguments: { path: 'new.txt', content: 'new\n' } },
      ],
    },
    'Done.',
    call('ls', {}, 'call_ls'),
    'Seen.',
    'On the fork.',
  ])
  await world.ok(['run', prompt])
  await world.ok(['run', '--continue', 'look around'])
  main = await world.ok(['resolve', '@'])
  fork = await world.ok(['branch', '@~1', '--name', 'retry'])
  await world.ok(['run', '--branch', fork, 'another way'])
}, 120_000)

afterAll(async () => {
  await endWorld(world)
})

/** The cells of each line of a list in a pipe. */
const rows = (text: string) => text.split('\n').map((line) => line.split('\t'))

/** A list of a command in its three forms: the raw cells, after a look at the escaped ones. */
async function cells(args: string[], columns: number): Promise<string[][]> {
  const [text, nul] = await Promise.all([world.ok(args), world.ok([...args, '-z'])])
  const raw = nul
    .split('\0')
    .slice(0, -1)
    .map((row) => row.split('\t'))
  const escaped = (cell: string) =>
    cell.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
  for (const row of rows(text)) expect(row).toHaveLength(columns)
  expect(nul.endsWith('\0')).toBe(true)
  // A free text in the last column may hold TABs of its own: raw means raw.
  const joined = raw.map((row) => [...row.slice(0, columns - 1), row.slice(columns - 1).join('\t')])
  expect(rows(text)).toEqual(joined.map((row) => row.map(escaped)))
  return joined
}

describe.concurrent('plumbing', () => {
  test('checkpoints', async () => {
    const listed = await world.json(['checkpoints'])
    expectShape(listed, {
      ...{ chat_id: 'chat', conversation: 'chat', checkpoints: [checkpoint], unreadable: [unreadable] },
    })
    expect(listed).toMatchObject({ chat_id: main, conversation: main })
    expect(listed.checkpoints.map(({ id }: { id: string }) => id)).toEqual(
      [
        ...['2:user', '3:assistant', '3:tool_call:call_edit', '3:tool_call:call_write'],
        ...['4:tool_result:call_edit', '5:tool_result:call_write', '6:assistant', '7:user'],
        ...['8:assistant', '8:tool_call:call_ls', '9:tool_result:call_ls', '10:assistant'],
      ].map((rest) => `${main}:${rest}`),
    )
    expect(await cells(['checkpoints'], 5)).toEqual(
      listed.checkpoints.map(({ id, kind, ts, label, detail }: Record<string, string>) => [
        id,
        kind,
        ts,
        label,
        detail,
      ]),
    )
  })

  test('checkpoints of one kind, of a branch, of the family, and the last of them', async () => {
    const ids = async (...args: string[]) => (await cells(['checkpoints', ...args], 5)).map(([id]) => id)
    expect(await ids('--kind', 'start')).toEqual([`${main}:1:start`])
    expect(await ids('--kind', 'user,tool_call', '--limit', '2')).toEqual([
      `${main}:7:user`,
      `${main}:8:tool_call:call_ls`,
    ])
    expect(await ids(fork, '--kind', 'user')).toEqual([`${main}:2:user`, `${fork}:7:user`])
    expect(await ids('retry', '--kind', 'user')).toEqual([`${main}:2:user`, `${fork}:7:user`])
    expect((await ids('--family', '--kind', 'user')).toSorted()).toEqual(
      [`${main}:2:user`, `${main}:7:user`, `${fork}:7:user`].toSorted(),
    )
  })

  test('branches', async () => {
    const listed = await world.json(['branches'])
    expect(Object.keys(listed)).toEqual(expect.arrayContaining(['current', 'branches']))
    expect(listed.current).toBe(main)
    const byId = new Map(listed.branches.map((branch: { chat_id: string }) => [branch.chat_id, branch]))
    expect(byId.size).toBe(2)
    expectShape(byId.get(main), mainBranch)
    expectShape(byId.get(fork), forkedBranch)
    expect(byId.get(main)).toMatchObject({
      kind: 'main',
      parent: null,
      branch_from: null,
      current: true,
      records: 11,
      turns: 2,
    })
    expect(byId.get(fork)).toMatchObject({
      kind: 'fork',
      name: 'retry',
      parent: main,
      current: false,
      turns: 2,
    })
    const listedCells = await cells(['branches'], 8)
    expect(
      listedCells
        .map(([mark, id, kind, name, parent, count]) => [mark, id, kind, name, parent, count])
        .toSorted(),
    ).toEqual(
      [
        ['*', main, 'main', '', '', '11'],
        ['', fork, 'fork', 'retry', main, '9'],
      ].toSorted(),
    )
    expect(await cells(['branches', '--all', '--retired'], 8)).toEqual(listedCells)
  })

  test('chats', async () => {
    const listed = await world.json(['chats'])
    expectShape(listed, { chats: [chat], unreadable: [unreadable] })
    expect(listed.chats).toMatchObject([
      { chat_id: main, branches: 2, model: 'scripted', workspace: world.workspace },
    ])
    const [row] = await cells(['chats'], 5)
    expect(row?.slice(0, 4)).toEqual([main, listed.chats[0].created_at, 'scripted', '2'])
    expect(row?.[4]).toBe('first\tline \\ one')
    expect((await world.json(['chats', '--search', 'LOOK AROUND'])).chats).toHaveLength(1)
    expect((await world.json(['chats', '--search', 'nothing like it'])).chats).toEqual([])
  })

  test('cells are escaped in a pipe, and raw with -z', async () => {
    const text = await world.ok(['checkpoints', '--kind', 'user', '--limit', '2'])
    expect(text).toContain('first\\tline \\\\ one')
    expect(await world.ok(['checkpoints', '--kind', 'user', '-z'])).toContain('first\tline \\ one')
  })

  test('resolve', async () => {
    const cases = {
      '@': { kind: 'branch', id: main },
      retry: { kind: 'branch', id: fork },
      [main]: { kind: 'branch', id: main },
      '@~1': { kind: 'checkpoint', id: `${main}:6:assistant` },
      '@~2': { kind: 'checkpoint', id: `${main}:1:start` },
      '@:9': { kind: 'checkpoint', id: `${main}:9:tool_result:call_ls` },
      [`${main}:3:tool_call:call_write`]: { kind: 'checkpoint', id: `${main}:3:tool_call:call_write` },
    }
    for (const [spec, expected] of Object.entries(cases)) {
      expect(await world.json(['resolve', spec])).toEqual(expected)
      expect(await world.ok(['resolve', spec])).toBe(expected.id)
    }
    const [{ message_id: message, id }] = (await world.json(['checkpoints', '--kind', 'user'])).checkpoints
    expect(await world.ok(['resolve', `^${message}`])).toBe(id)
  })

  test('show', async () => {
    const shown = await world.json(['show', '@:4', '--diff'])
    expectShape(shown, {
      checkpoint,
      record: records.tool!,
      changes: [{ path: 'text', before: state, after: state, diff: 'text?' }],
    })
    expect(shown.changes).toMatchObject([
      { path: 'src/money.js', before: { exists: true }, after: { exists: true } },
    ])
    expect(shown.changes[0].diff).toContain('+')
    expect((await world.json(['show', '@:4'])).changes[0].diff).toBeNull()
    expect((await world.json(['show', `@:5`])).changes).toMatchObject([
      { path: 'new.txt', before: { exists: false } },
    ])
    expectShape((await world.json(['show', '@:2'])).record, records.user!)
    expectShape((await world.json(['show', '@:3'])).record, records.assistant!)
    expect((await world.json(['show', '@:1'])).checkpoint.kind).toBe('start')
    expect(await world.ok(['show', '@:2'])).toContain(prompt)
    expect(await world.ok(['show', '@:4', '--diff'])).toMatch(/^-.*padStart\(3/m)
  })

  test('log', async () => {
    const log = await world.json(['log'])
    expect(Object.keys(log)).toEqual(['chat_id', 'conversation', 'records'])
    for (const record of log.records) expectShape(record, records[record.type]!)
    expect(log.records.map(({ record_index: index }: { record_index: number }) => index)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10,
    ])
    expect((await world.json(['log', '-n', '2'])).records).toEqual(log.records.slice(-2))
    expect((await world.json(['log', '--reverse'])).records).toEqual(log.records.toReversed())
    expectShape((await world.json(['log', '--all'])).records[0], records.system!)
    expect((await world.ok(['log', '-n', '3', '--oneline'])).split('\n')).toHaveLength(3)
    expect(await world.ok(['log'])).toContain('second line')
    const tree = await world.ok(['log', '--graph'])
    expect(tree).toMatch(new RegExp(`^\\*${main}[^]*─ ${fork} retry`))
  })

  test('fsck', async () => {
    const report = await world.json(['fsck'])
    expectShape(report, {
      findings: [finding],
      checked: { conversations: 'count', messages: 'count', journals: 'count', snapshots: 'count' },
    })
    expect(report).toMatchObject({ findings: [], checked: { conversations: 1, messages: 12 } })
    expect(await world.run(['fsck', main])).toMatchObject({ exitCode: 0, stdout: '' })
  })
})
