import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ResultOrigin, shortenResult, shortenText } from '../../../sources/agent/shorten.ts'
import { section } from './_branch.ts'

function compact(content: string, name: string, input: unknown, target = 1_200): string {
  const origin: ResultOrigin = { name, arguments: JSON.stringify(input) }
  return shortenResult(content, { target, origin, reason: { type: 'context' } })
}

describe('a compacted tool result', () => {
  it('has a notice, its head and its tail', () => {
    const content = `${'h'.repeat(4_000)}${'t'.repeat(4_000)}`
    expect(compact(content, 'write', {}, 300)).toBe(
      [
        '[Cass compacted this tool output (originally 8000 characters) to fit the model context. Tool: `write`. Retained excerpt shape: first 200 and last 100 characters. Look again with a narrower request before relying on the omitted part.]',
        '--- retained head excerpt ---',
        'h'.repeat(200),
        '--- omitted middle ---',
        '--- retained tail excerpt ---',
        't'.repeat(100),
      ].join('\n'),
    )
  })

  it('of a read names the range and how to see the rest', () => {
    const text = compact(section('src/a.ts', 1, 400), 'read', { files: [{ path: 'src/a.ts' }] })
    expect(text).toContain('src/a.ts lines 1-400')
    expect(text).toContain('narrower line range')
    expect(text).toContain('`grep`')
  })

  it('of a read of several files sums them up', () => {
    const two = section('a.ts', 1, 200) + section('b.ts', 5, 200)
    expect(compact(two, 'read', {})).toContain('2 read sections: a.ts lines 1-200 and b.ts lines 5-200')
    expect(compact(two + section('c.ts', 1, 9), 'read', {})).toContain(
      '3 read sections including a.ts lines 1-200 and b.ts lines 5-200',
    )
  })

  it('of a read without a header names what was asked for', () => {
    const text = compact('x'.repeat(9_000), 'read', { files: [{ path: 'a.ts', lines: '5-' }] })
    expect(text).toContain('Source: a.ts lines 5-.')
  })

  it('of a grep says where it had stopped and how to search again', () => {
    const text = compact(`${'a.ts:1: hit\n'.repeat(500)}… stopped after 500 matches`, 'grep', {
      query: 'hit',
    })
    expect(text).toContain('stopped after 500 matches.')
    expect(text).toContain('narrower query/path')
    expect(text).toContain('`read` around specific matching lines')
  })

  it('of a shell command names the command and how to filter', () => {
    const text = compact('x'.repeat(9_000), 'shell', { command: 'make\n  all' })
    expect(text).toContain('Shell command: `make all`.')
    expect(text).toContain('filter output with grep/head/tail')
    expect(text).toContain('before making edits from omitted lines')
  })

  it('of a long or a secret command does not repeat it', () => {
    expect(compact('x'.repeat(9_000), 'shell', { command: 'y'.repeat(200) })).toContain('200 characters long')
    const secret = compact('x'.repeat(9_000), 'shell', { command: 'curl -H "Authorization: abc"' })
    expect(secret).not.toContain('curl')
    expect(secret).toContain('withheld')
  })

  it('never parts the two halves of a character', () => {
    for (const target of [300, 301, 302, 303]) {
      expect(compact('😀'.repeat(5_000), 'shell', {}, target)).not.toMatch(/\p{Cs}/u)
    }
  })
})

describe('any text', () => {
  const anyTarget = fc.integer({ min: 0, max: 2_000 })

  it('is never longer when shortened, and itself when it fits', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 4_000 }), anyTarget, (content, target) => {
        const shortened = compact(content, 'read', {}, target)
        expect(shortened.length).toBeLessThanOrEqual(content.length)
        if (content.length <= target) expect(shortened).toBe(content)
        expect(shortenText(content, { target, subject: 'message' }).length).toBeLessThanOrEqual(
          content.length,
        )
      }),
    )
  })
})
