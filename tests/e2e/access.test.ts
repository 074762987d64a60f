import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { call, parseEvents, test } from './_world.ts'

const touch = call('shell', { command: 'touch marker' })
const toolNames = (body: { tools: Array<{ function: { name: string } }> }) =>
  body.tools.map((tool) => tool.function.name)

describe.concurrent('what a run may do', () => {
  test('without approval a shell command is denied, and the turn goes on', async ({ world }) => {
    world.provider.setScript([touch, 'Then not.'])
    const { exitCode, stdout, stderr } = await world.run(['run', 'touch'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Then not.\n' })
    expect(stderr).toContain('✗ shell touch marker  needs approval: pass --approve shell\n')
    expect(stderr).not.toContain('denied')
    expect(existsSync(join(world.workspace, 'marker'))).toBe(false)
    expect(world.bodies()[1].messages.at(-1)).toMatchObject({
      role: 'tool',
      content: 'this call needs approval and nobody can give it here',
    })
  })

  test.for(['shell', 'all'])('--approve %s lets it run', async (approve, { world }) => {
    world.provider.setScript([touch, 'Done.'])
    expect(await world.ok(['run', '--approve', approve, 'touch'])).toBe('Done.')
    expect(existsSync(join(world.workspace, 'marker'))).toBe(true)
  })

  test('--approve none is the default said aloud', async ({ world }) => {
    world.provider.setScript([touch, 'Then not.'])
    const { stdout } = await world.run(['run', '--json', '--approve', 'none', 'touch'])
    const events = parseEvents(stdout)
    expect(events.find(({ type }) => type === 'approval_resolved')).toMatchObject({ approved: false })
    expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({ ok: false })
  })

  test('--readonly offers no tool that changes anything, and refuses one all the same', async ({ world }) => {
    world.provider.setScript([call('write', { path: 'new.txt', content: 'x' }), touch, 'No.'])
    await world.ok(['run', '--readonly', '--approve', 'all', 'write'])
    expect(toolNames(world.bodies()[0])).toEqual(['ls', 'read', 'grep'])
    const results = world.bodies()[2].messages.filter(({ role }: { role: string }) => role === 'tool')
    expect(results.map(({ content }: { content: string }) => content)).toEqual([
      'write/edit tools are unavailable in read-only mode',
      'shell is unavailable in read-only mode',
    ])
    expect(existsSync(join(world.workspace, 'new.txt'))).toBe(false)
    expect(existsSync(join(world.workspace, 'marker'))).toBe(false)
  })

  test('read-only is what holds when nothing is configured', async ({ world }) => {
    world.provider.setScript(['No.'])
    const args = ['--base-url', world.provider.url, '--model', 'm', '--api-key-env', 'SCRIPTED_KEY']
    await world.ok(['run', ...args, 'x'], { env: { CASS_HOME: join(world.folder, 'empty') } })
    expect(toolNames(world.bodies()[0])).toEqual(['ls', 'read', 'grep'])
  })

  test('--workspace-edit writes in the workspace and not outside of it', async ({ world }) => {
    const outside = join(world.folder, 'outside.txt')
    const writes = [
      call('write', { path: 'inside.txt', content: 'x' }),
      call('write', { path: outside, content: 'x' }),
    ]
    world.provider.setScript([...writes, 'Done.'])
    await world.ok(['run', '--workspace-edit', 'write'])
    expect(existsSync(join(world.workspace, 'inside.txt'))).toBe(true)
    expect(existsSync(outside)).toBe(false)
    expect(world.bodies()[2].messages.at(-1).content).toContain('escapes workspace-edit root')
  })

  test('--full-access runs commands unasked and writes outside, but never into .git or its own home', async ({
    world,
  }) => {
    const outside = join(world.folder, 'outside.txt')
    const paths = [outside, '.git/config', join(world.cassHome, 'config.json')]
    const writes = paths.map((path) => call('write', { path, content: 'x' }))
    world.provider.setScript([touch, ...writes, 'Done.'])
    const { stdout } = await world.run(['run', '--json', '--full-access', 'write'])
    const results = parseEvents(stdout).filter(({ type }) => type === 'tool_result')
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false, false])
    expect(existsSync(join(world.workspace, 'marker'))).toBe(true)
    expect(existsSync(join(world.workspace, '.git/config'))).toBe(false)
  })

  test('--max-steps ends the turn, which can be gone on with', async ({ world }) => {
    world.provider.setScript([call('ls', {}), call('ls', {}), 'Here.'])
    const { exitCode, stdout, stderr } = await world.run(['run', '--max-steps', '2', 'look'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain('step limit')
    expect(world.bodies()).toHaveLength(2)
    expect(await world.ok(['run', '--continue', 'go on'])).toBe('Here.')
  })

  test('keys of providers are not in the environment of shell commands', async ({ world }) => {
    const printenv = call('shell', { command: 'env' })
    world.provider.setScript([printenv, 'Done.'])
    await world.ok(['run', '--full-access', 'env'], { env: { HARMLESS: 'yes' } })
    const { content } = world.bodies()[1].messages.at(-1)
    expect(content).toContain('HARMLESS=yes')
    expect(content).not.toContain('SCRIPTED_KEY')
  })

  test('the setting keepProviderKeys lets them through', async ({ world }) => {
    world.settings({ shellEnvironment: { keepProviderKeys: true } })
    world.provider.setScript([call('shell', { command: '[ -n "$SCRIPTED_KEY" ] && echo kept' }), 'Done.'])
    await world.ok(['run', '--full-access', 'env'])
    expect(world.bodies()[1].messages.at(-1).content).toContain('kept')
  })

  test.for(['--readonly', '--workspace-edit', '--full-access'])(
    'a key that stands in providers.json below the workspace never reaches the model, with %s',
    async (mode, { world }) => {
      const literal = 'sk-literal-for-another-provider'
      const file = join(world.cassHome, 'providers.json')
      const { providers } = JSON.parse(readFileSync(file, 'utf8'))
      const other = { ...providers[0], id: 'other', base_url: 'https://example.invalid/v1', api_key: literal }
      writeFileSync(file, JSON.stringify({ providers: [...providers, other] }))
      symlinkSync(file, join(world.folder, 'AGENTS.md'))
      symlinkSync(world.cassHome, join(world.folder, 'link'))
      const calls = [
        call('ls', { path: 'cass' }),
        call('read', { files: [{ path: 'cass/providers.json' }, { path: 'link/providers.json' }] }),
        call('read', { files: [{ path: 'AGENTS.md' }] }),
        call('grep', { query: 'sk-literal', paths: ['.'] }),
        call('edit', { path: 'AGENTS.md', edits: [{ old_text: '"api_key": ""', new_text: '' }] }),
      ]
      world.provider.setScript([...calls, 'Done.'])
      await world.ok(['run', mode, 'find the key'], { cwd: world.folder })
      expect(world.bodies()).toHaveLength(calls.length + 1)
      expect(JSON.stringify(world.bodies())).not.toContain(literal)
    },
  )

  test('project instructions are given to the model and named in the first event', async ({ world }) => {
    world.provider.setScript(['Done.'])
    const { stdout } = await world.run(['run', '--json', 'x'])
    const [started] = parseEvents(stdout)
    expect(started?.instructions).toEqual([expect.stringMatching(/AGENTS\.md$/)])
    expect(world.bodies()[0].messages[0].content).toContain('AGENTS.md')
  })
})
