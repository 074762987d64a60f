import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { decideCall, isDestructiveCall, runCall, tools, toolsFor } from '../../../sources/tools/registry.ts'
import { makeContext, makePlace } from './_context.ts'

describe('tools', () => {
  it('are offered by mode, in a fixed order', () => {
    const names = (mode: Parameters<typeof toolsFor>[0]) => toolsFor(mode).map(({ name }) => name)
    expect(names('read-only')).toEqual(['ls', 'read', 'grep'])
    expect(names('workspace-edit')).toEqual(['ls', 'read', 'grep', 'write', 'edit', 'shell'])
    expect(names('full-access')).toEqual(names('workspace-edit'))
  })

  it('have closed schemas, and descriptions that tell what the model needs', () => {
    for (const { parameters } of tools) {
      expect(parameters).toMatchObject({
        type: 'object',
        additionalProperties: false,
        required: expect.any(Array),
      })
    }
    const described = Object.fromEntries(tools.map(({ name, description }) => [name, description]))
    expect(described.read).toMatch(/Prefer grep first/)
    expect(described.read).toMatch(/compacted or truncated/)
    expect(described.grep).toMatch(/large or unknown inputs/)
    expect(described.shell).toMatch(/grep\/head\/tail/)
    expect(described.shell).toMatch(/[Dd]efault timeout 30/)
  })
})

describe('decideCall', () => {
  it('looks at every path, as it really is', async () => {
    const place = makePlace()
    symlinkSync(place.home, path.join(place.workspace, 'out'))
    const context = makeContext(place, { mode: 'workspace-edit' })
    const decide = async (name: string, input: unknown) => (await decideCall({ name, input }, context)).type
    expect(await decide('read', { files: [{ path: 'a' }, { path: 'b' }] })).toBe('allow')
    expect(await decide('read', { files: [{ path: 'a' }, { path: 'out/b' }] })).toBe('deny')
    expect(await decide('grep', { query: 'x', paths: ['.', '~'] })).toBe('deny')
    expect(await decide('grep', { query: 'x' })).toBe('allow')
    expect(await decide('ls', {})).toBe('allow')
    expect(await decide('ls', { path: 'out' })).toBe('deny')
    expect(await decide('write', { path: 'a' })).toBe('allow')
    expect(await decide('write', { path: 'out/a' })).toBe('deny')
    expect(await decide('edit', { path: '.git/config' })).toBe('deny')
    expect(await decide('shell', { command: 'ls' })).toBe('ask')
    expect(await decide('nothing', {})).toBe('deny')
  })

  it('leaves arguments of the wrong type to the tool', async () => {
    const place = makePlace()
    const context = makeContext(place, { mode: 'workspace-edit' })
    for (const input of [null, 'x', 3, [], { path: 3 }, { path: '\0' }, { files: 'x' }, { files: [null] }]) {
      for (const { name } of tools.filter((tool) => tool.name !== 'shell')) {
        expect(await decideCall({ name, input }, context)).toEqual({ type: 'allow' })
        expect(typeof (await runCall({ name, input }, context, false)).content).toBe('string')
      }
    }
  })
})

describe('runCall', () => {
  it('does not run a call that needs approval without it', async () => {
    const place = makePlace()
    const context = makeContext(place, { mode: 'workspace-edit' })
    const call = { name: 'shell', input: { command: 'touch marker' } }
    const marker = path.join(place.workspace, 'marker')
    const refused = await runCall(call, context, false)
    expect(refused).toMatchObject({
      ok: false,
      content: expect.stringContaining('approval required before executing `shell`'),
    })
    expect(existsSync(marker)).toBe(false)
    expect((await runCall(call, context, true)).ok).toBe(true)
    expect(existsSync(marker)).toBe(true)
  })

  it('refuses what the mode does not have, and unknown tools', async () => {
    const place = makePlace()
    const context = makeContext(place, { mode: 'read-only' })
    const contentOf = async (name: string, input: unknown) =>
      (await runCall({ name, input }, context, true)).content
    expect(await contentOf('write', { path: 'a', content: '' })).toBe(
      'write/edit tools are unavailable in read-only mode',
    )
    expect(await contentOf('shell', { command: 'touch marker' })).toBe(
      'shell is unavailable in read-only mode',
    )
    expect(await contentOf('X', {})).toBe('unknown tool `X`')
    expect(existsSync(path.join(place.workspace, 'marker'))).toBe(false)
  })

  it('reads and searches the docs in every mode, and never writes them', async () => {
    const place = makePlace()
    const guide = path.join(place.docs, 'guide.md')
    writeFileSync(guide, 'one\ntwo\n')
    for (const mode of ['read-only', 'workspace-edit', 'full-access'] as const) {
      const context = makeContext(place, { mode })
      expect((await runCall({ name: 'read', input: { files: [{ path: guide }] } }, context, false)).ok).toBe(
        true,
      )
      const found = await runCall(
        { name: 'grep', input: { query: 'TWO', paths: [place.docs] } },
        context,
        false,
      )
      expect(found.content).toBe(`${guide}:2: two\n`)
      const edits = [{ old_text: 'one', new_text: 'x' }]
      expect((await runCall({ name: 'edit', input: { path: guide, edits } }, context, true)).ok).toBe(false)
      expect((await runCall({ name: 'write', input: { path: guide, content: 'x' } }, context, true)).ok).toBe(
        false,
      )
    }
    expect(readFileSync(guide, 'utf8')).toBe('one\ntwo\n')
  })

  it('bounds what a failure says', async () => {
    const place = makePlace()
    const context = makeContext(place, { mode: 'workspace-edit' })
    writeFileSync(path.join(place.workspace, 'a'), 'x\n'.repeat(100_000))
    const input = { path: 'a', edits: [{ old_text: 'y'.repeat(500_000), new_text: '' }] }
    const { ok, content } = await runCall({ name: 'edit', input }, context, false)
    expect(ok).toBe(false)
    expect(content.length).toBeLessThan(9000)
    const files = Array.from({ length: 200 }, (_, index) => ({ path: `missing-${'m'.repeat(200)}-${index}` }))
    expect((await runCall({ name: 'read', input: { files } }, context, false)).content.length).toBeLessThan(
      9000,
    )
  })
})

describe('isDestructiveCall', () => {
  it('asks for edits, for writes over a file, and for commands that may delete', async () => {
    const place = makePlace()
    mkdirSync(path.join(place.workspace, 'dir'))
    writeFileSync(path.join(place.workspace, 'a'), '')
    const context = makeContext(place, { mode: 'full-access' })
    const ask = async (name: string, input: unknown) => await isDestructiveCall({ name, input }, context)
    expect(await ask('write', { path: 'a' })).toBe(true)
    expect(await ask('write', { path: 'new' })).toBe(false)
    expect(await ask('edit', { path: 'a' })).toBe(true)
    expect(await ask('read', {})).toBe(false)
    expect(await ask('shell', { command: 'find . -delete' })).toBe(true)
    expect(await ask('shell', { command: 'ls 2>&1' })).toBe(false)
  })
})
