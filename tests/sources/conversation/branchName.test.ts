import { describe, expect, it } from 'vitest'
import { checkBranchName, matchBranch } from '../../../sources/conversation/branchName.ts'

const branch = (chat_id: string, name: string | null = null) => ({ chat_id, name })
const family = [
  branch('2026-06-25-101533-aaaa'),
  branch('2026-06-25-101533-aabb', 'retry'),
  branch('2026-06-26-090000-cccc', 'retry-2'),
]
const others = [branch('2026-07-01-090000-dddd', 'retry'), branch('2026-07-01-090000-eeee', 'other')]
const match = (word: string) => matchBranch(word, { family, others }).chat_id

describe('matching a branch', () => {
  it.each([
    ['2026-06-25-101533-aabb', '2026-06-25-101533-aabb'],
    ['2026-07-01-090000-dddd', '2026-07-01-090000-dddd'],
    ['retry', '2026-06-25-101533-aabb'],
    ['retry-', '2026-06-26-090000-cccc'],
    ['2026-06-26', '2026-06-26-090000-cccc'],
    ['ot', '2026-07-01-090000-eeee'],
  ])('finds %s', (word, chat) => {
    expect(match(word)).toBe(chat)
  })

  it('counts a branch once that is given twice', () => {
    expect(matchBranch('other', { family: [], others: [...others, ...others] }).name).toBe('other')
  })

  it('names the candidates when several start so', () => {
    expect(() => match('2026-06-25')).toThrow(
      expect.objectContaining({
        code: 'branch_ambiguous',
        kind: 'failed',
        message: "'2026-06-25' names 2 branches",
        hint: 'name one of: 2026-06-25-101533-aaaa, 2026-06-25-101533-aabb (retry)',
        data: { candidates: ['2026-06-25-101533-aaaa', '2026-06-25-101533-aabb'] },
      }),
    )
  })

  it.each(['', 'nothing', '2026-06-25-101533-zzzz'])('does not find %j', (word) => {
    expect(() => match(word)).toThrow(expect.objectContaining({ code: 'branch_not_found', kind: 'failed' }))
  })
})

describe('branch names', () => {
  it.each(['a', 'retry-2', 'größer', 'x'.repeat(64), '😀'.repeat(64), 'a/b', '2026-06-25'])(
    'accept %j',
    (name) => {
      expect(() => checkBranchName(name, ['retry'])).not.toThrow()
    },
  )

  it.each([
    '',
    'x'.repeat(65),
    'a b',
    'a\u00a0b',
    'a~1',
    'a:b',
    '^a',
    '@',
    '-a',
    'a\u0007',
    'a\ud800',
    '2026-06-25-101533-a_-9',
  ])('refuse %j', (name) => {
    expect(() => checkBranchName(name, [])).toThrow(
      expect.objectContaining({ code: 'bad_branch_name', kind: 'usage' }),
    )
  })

  it('refuse one that the family has', () => {
    expect(() => checkBranchName('retry', ['retry'])).toThrow(
      expect.objectContaining({ code: 'branch_name_taken' }),
    )
  })
})
