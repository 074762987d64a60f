import { Chalk } from 'chalk'
import { describe, expect, it } from 'vitest'
import { formatCheckReport } from '../../commands/terminal/checkReport.ts'
import { formatTree } from '../../commands/terminal/familyTree.ts'
import { formatLine, formatLog } from '../../commands/terminal/log.ts'
import { formatCall, formatRecord } from '../../commands/terminal/record.ts'

const plain = new Chalk({ level: 0 })
const coloured = new Chalk({ level: 1 })
const ts = '2026-06-25T10:15:33.000Z'
const placed = { message_id: 'm', record_index: 3, notice: null }

describe('a call on one line', () => {
  it.each([
    ['shell', { command: 'npm test\nnpm run build' }, 'shell npm test'],
    ['edit', { path: 'src/a.ts', edits: [] }, 'edit src/a.ts'],
    ['grep', { query: 'TODO' }, 'grep "TODO"'],
    ['read', { files: [{ path: 'a' }] }, 'read a'],
    ['read', { files: [{ path: 'a' }, { path: 'b' }, { path: 'c' }] }, 'read a and 2 more'],
    ['read', { files: 'nonsense' }, 'read'],
    ['ls', {}, 'ls .'],
    ['edit', { _raw: '{"path' }, 'edit'],
    ['edit', null, 'edit'],
  ])('%s %j is %s', (name, input, expected) => {
    expect(formatCall(name, input)).toBe(expected)
  })
})

describe('a record in full', () => {
  it('has the reasoning, the text and each call with its arguments', () => {
    const tool_calls = [{ id: 'c1', name: 'ls', arguments: { path: '.' } }]
    const record = {
      type: 'assistant',
      content: 'I look.',
      reasoning: 'Where?',
      tool_calls,
      ts,
      ...placed,
    } as const
    expect(formatRecord(record)).toBe('(reasoning)\nWhere?\n\nI look.\n\ncall ls c1\n{\n  "path": "."\n}')
  })

  it('says whether a tool did it', () => {
    const record = {
      type: 'tool',
      tool_call_id: 'c1',
      name: 'ls',
      ok: false,
      content: 'no such folder',
      ts,
    } as const
    expect(formatRecord({ ...record, ...placed })).toBe('ls ✗\nno such folder')
  })
})

describe('the log', () => {
  const user = { type: 'user', content: 'first\nsecond \u001b[31mred', ts, ...placed } as const
  const result = { type: 'tool', tool_call_id: 'c', name: 'shell', ok: true, ts, ...placed } as const

  it('shows each record below a line with its number, kind and time', () => {
    expect(formatLog([user], plain)).toBe(`3 user · ${ts}\n    first\n    second red\n\n`)
  })

  it('shortens long results and says where the rest is', () => {
    const content = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n')
    const lines = formatLog([{ ...result, content }], plain)
      .trimEnd()
      .split('\n')
    expect(lines).toHaveLength(14)
    expect(lines.at(-1)).toBe('    … 28 more lines, see `cass show`')
  })

  it('names a tool and how it went once', () => {
    expect(formatLog([{ ...result, content: 'file a' }], plain)).toBe(
      `3 tool shell ✓ · ${ts}\n    file a\n\n`,
    )
  })

  it('says of a record that the program wrote it', () => {
    expect(formatLog([{ ...user, notice: 'interrupted' }], plain)).toMatch(/^3 user \(interrupted\) · /)
  })

  it.each([
    [user, '3 user first'],
    [{ ...result, content: '\n\nstdout:\nx' }, '3 tool shell ✓ stdout:'],
    [
      {
        ...({ type: 'assistant', content: '', reasoning: '', ts, ...placed } as const),
        tool_calls: [{ id: 'c', name: 'ls', arguments: { path: 'src' } }],
      },
      '3 assistant ls src',
    ],
  ])('fits a record on one line', (record, expected) => {
    expect(formatLine(record, plain)).toBe(expected)
  })
})

describe('the family tree', () => {
  const branch = (chat_id: string, parent: string | null, at: number | null, name: string | null = null) => ({
    ...{
      chat_id,
      parent,
      name,
      kind: parent === null ? 'main' : 'fork',
      current: chat_id === 'c',
      records: 9,
    },
    preview: 'hello',
    branch_from: at === null ? null : { record_index: at },
  })

  it('hangs each branch below the one it left, in the order of leaving', () => {
    const branches = [
      branch('a', null, null),
      branch('b', 'a', 7),
      branch('c', 'a', 4, 'retry'),
      branch('d', 'c', 5),
    ]
    expect(formatTree({ branches }, plain)).toBe(
      [
        'a (main, 9 records) hello',
        '├─ *c retry (fork, at 4, 9 records) hello',
        '│  └─ d (fork, at 5, 9 records) hello',
        '└─ b (fork, at 7, 9 records) hello',
        '',
      ].join('\n'),
    )
  })

  it('shows a branch whose parent is not in the list as a root', () => {
    expect(formatTree({ branches: [branch('b', 'gone', 2)] }, plain)).toBe(
      'b (fork, at 2, 9 records) hello\n',
    )
  })

  it("shows branches that are made each other's parents, each once", () => {
    const branches = [branch('a', 'c', 2), branch('b', 'a', 3), branch('c', 'b', 4), branch('d', 'd', 5)]
    const lines = formatTree({ branches }, plain).split('\n')
    expect(lines.map((line) => line.replace(/ \(.*/, ''))).toEqual(['a', '└─ b', '   └─ *c', 'd', ''])
  })
})

describe('the check report', () => {
  const finding = { code: 'x', subject: 's' }
  const findings = [
    { ...finding, severity: 'error', message: 'broken\u0007', hint: 'mend it' },
    { ...finding, severity: 'ok', message: 'fine', hint: null },
    { ...finding, severity: 'warning', message: 'odd', hint: null },
  ] as const

  it('has what is fine first, then warnings, errors, next steps and the verdict', () => {
    expect(formatCheckReport({ ok: false, findings, next_steps: ['cass setup', 'cass'] }, plain)).toBe(
      [
        ...[
          'Cass config check',
          '✓ s: fine',
          '',
          'Warnings:',
          '! s: odd',
          '',
          'Errors:',
          '✗ s: broken',
          '    mend it',
        ],
        ...['', 'Next steps:', '  cass setup', '  cass', '', 'Config check failed.', ''],
      ].join('\n'),
    )
  })

  it('names a single next step as one', () => {
    const text = formatCheckReport({ ok: true, findings: [], next_steps: ['cass'] }, plain)
    expect(text).toBe('Cass config check\n\nNext step:\n  cass\n\nAll checks passed.\n')
  })

  it('has colours of its own only', () => {
    const text = formatCheckReport({ ok: false, findings, next_steps: [] }, coloured)
    expect(text).toContain('\u001b[31m✗\u001b[39m s: broken\n')
  })
})
