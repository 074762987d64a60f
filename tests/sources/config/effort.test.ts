import { describe, expect, test } from 'vitest'
import { clampEffort, defaultEffort, nextEffort, requestReasoning } from '../../../sources/config/effort.ts'
import type { Reasoning } from '../../../sources/config/modelsFile.ts'
import { model } from './_config.ts'

function reasoning(fields: Partial<Reasoning>) {
  const full = {
    supported: true,
    required: false,
    default_effort: 'medium',
    request_format: 'reasoning_effort',
  } as const
  return model('m', 'p', { reasoning: { ...full, ...fields } })
}

const unsupported = reasoning({ supported: false })
const optional = reasoning({ default_effort: 'high' })
const required = reasoning({ required: true, default_effort: 'low' })
const requiredOff = reasoning({ required: true, default_effort: 'off' })

describe('the reasoning effort', () => {
  test.each([
    ['an unknown model', null, 'off'],
    ['a model that cannot reason', unsupported, 'off'],
    ['a model with a default', optional, 'high'],
    ['a model that must reason but has no default', requiredOff, 'medium'],
  ])('of %s starts at its default', (_name, metadata, expected) => {
    expect(defaultEffort(metadata)).toBe(expected)
  })

  test.each([
    ['high', null, 'off'],
    ['high', unsupported, 'off'],
    ['off', optional, 'off'],
    ['low', optional, 'low'],
    ['off', required, 'low'],
    ['off', requiredOff, 'medium'],
    ['high', required, 'high'],
  ] as const)('%s is brought to what the model allows', (effort, metadata, expected) => {
    expect(clampEffort(effort, metadata)).toBe(expected)
  })

  test('is cycled through, without off where the model must reason', () => {
    const round = (metadata: typeof optional | null) =>
      (['off', 'low', 'medium', 'high'] as const).map((effort) => nextEffort(effort, metadata))
    expect(round(optional)).toEqual(['low', 'medium', 'high', 'off'])
    expect(round(required)).toEqual(['low', 'medium', 'high', 'low'])
    expect(round(unsupported)).toEqual(['off', 'off', 'off', 'off'])
    expect(round(null)).toEqual(['off', 'off', 'off', 'off'])
  })

  test('is sent in the form of the model, off as none, and not at all to models that know nothing of it', () => {
    expect(requestReasoning('off', optional)).toEqual({ format: 'reasoning_effort', effort: 'none' })
    const object = reasoning({ request_format: 'reasoning_object' })
    expect(requestReasoning('high', object)).toEqual({ format: 'reasoning_object', effort: 'high' })
    expect(requestReasoning('high', unsupported)).toBeNull()
    expect(requestReasoning('high', null)).toBeNull()
  })
})
