import { describe, expect, it } from 'vitest'
import { estimateMessage, estimateTokens } from '../../../sources/agent/tokens.ts'

describe('estimateTokens', () => {
  it('counts nothing for nothing and at least one for something', () => {
    expect(estimateTokens('')).toBe(0)
    expect(estimateTokens('a')).toBe(1)
  })

  it('counts blanks by their bytes', () => {
    expect(estimateTokens(' '.repeat(400))).toBeGreaterThanOrEqual(100)
  })

  it('counts a long run without blanks at two characters a token', () => {
    expect(estimateTokens('0123456789abcdef'.repeat(64))).toBeGreaterThanOrEqual(512)
    expect(estimateTokens(`look at ${'f'.repeat(1000)} and go on`)).toBeGreaterThanOrEqual(500)
  })

  it.each(['a', '.', ' ', '\n', 'é', '0'])('counts eight million times %j', (character) => {
    expect(estimateTokens(character.repeat(8_000_000))).toBeGreaterThanOrEqual(2_000_000)
  })

  it('counts JSON half as much again as the same words', () => {
    const inner = '"path":"src/a.ts","lines":[1,2,3],"deep":{"ok":true}'
    expect(estimateTokens(`{${inner}}`)).toBeGreaterThan(estimateTokens(inner) * 1.3)
  })

  it('counts text of other scripts by more than its letters would say', () => {
    expect(estimateTokens('日本語のテキスト'.repeat(10))).toBeGreaterThanOrEqual(60)
  })

  it('is linear: a text twice as long costs about twice as much', () => {
    const text = 'const total = items.reduce((sum, item) => sum + item.price, 0)\n'
    const ratio = estimateTokens(text.repeat(200)) / estimateTokens(text.repeat(100))
    expect(ratio).toBeGreaterThan(1.9)
    expect(ratio).toBeLessThan(2.1)
  })
})

describe('estimateMessage', () => {
  it('counts the frame, the reasoning and each call with its id and name', () => {
    const plain = estimateMessage({ content: 'hello' })
    expect(plain).toBe(10)
    expect(estimateMessage({ content: 'hello', reasoning: 'because it was asked' })).toBeGreaterThan(plain)
    const call = { id: 'call_1', name: 'ls', arguments: '{"path":"."}' }
    expect(estimateMessage({ content: '', calls: [call, call] })).toBeGreaterThan(plain + 24)
  })
})
