import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { expectShape } from './_shapes.ts'
import { everythingIn, key, test, type World } from './_world.ts'

interface Report {
  readonly ok: boolean
  readonly findings: ReadonlyArray<{ severity: string; code: string; subject: string; message: string }>
  readonly next_steps: ReadonlyArray<string>
}

/** Runs `check --json`, which must change nothing and tell no key. */
async function check(world: World, args: string[] = [], env: Record<string, string> = {}) {
  const before = everythingIn(world.folder)
  const { exitCode, stdout, stderr } = await world.run(['check', '--json', ...args], { env })
  expect(stderr).toBe('')
  const report: Report = JSON.parse(stdout)
  expectShape(report, {
    ok: 'flag',
    findings: [
      { severity: '=ok|warning|error', code: 'text', subject: 'text', message: 'text', hint: 'text?' },
    ],
    next_steps: ['text'],
  })
  expect(exitCode).toBe(report.ok ? 0 : 1)
  expect(stdout).not.toContain(key)
  expect(everythingIn(world.folder)).toBe(before)
  const errors = report.findings.filter(({ severity }) => severity === 'error')
  return { ...report, errors }
}

describe.concurrent('cass check', () => {
  test('finds nothing wrong with a sound set-up', async ({ world }) => {
    const { ok, errors } = await check(world)
    expect({ ok, errors }).toEqual({ ok: true, errors: [] })
    const { exitCode, stdout } = await world.run(['check'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('✓')
    expect(stdout.trimEnd()).toMatch(/All checks passed\.$/)
    expect(world.provider.requests).toEqual([])
  })

  test('on an empty home says how to begin, and makes nothing', async ({ world }) => {
    const { ok, next_steps: steps } = await check(world, [], { CASS_HOME: join(world.folder, 'none') })
    expect(ok).toBe(false)
    expect(steps.join('\n')).toMatch(/write .*providers\.json/)
  })

  test('names a missing key variable, and what to type', async ({ world }) => {
    const { ok, errors, next_steps: steps } = await check(world, [], { SCRIPTED_KEY: '' })
    expect(ok).toBe(false)
    expect(errors.some(({ message }) => message.includes('SCRIPTED_KEY'))).toBe(true)
    expect(steps).toEqual(expect.arrayContaining([expect.stringContaining('export SCRIPTED_KEY=')]))
    expect((await check(world, ['--api-key-env', 'HOME'], { SCRIPTED_KEY: '' })).ok).toBe(true)
  })

  test('reports the faults of all files at once', async ({ world }) => {
    writeFileSync(join(world.cassHome, 'config.json'), '{"default_access_mode": "god"}')
    writeFileSync(join(world.cassHome, 'providers.json'), '{')
    writeFileSync(join(world.cassHome, 'models.json'), '{"models": [{"id": 1}]}')
    writeFileSync(join(world.cassHome, 'settings.json'), '{"retries": -1}')
    const { errors } = await check(world)
    const named = errors.map(({ message }) => /\b(config|providers|models|settings)\.json/.exec(message)?.[1])
    expect(new Set(named.filter((name) => name !== undefined))).toEqual(
      new Set(['config', 'providers', 'models', 'settings']),
    )
    const { exitCode, stdout } = await world.run(['check'])
    expect(exitCode).toBe(1)
    expect(stdout.trimEnd()).toMatch(/Config check failed\.$/)
  })

  test('warns of a loose home, which fails only with --strict', async ({ world }) => {
    chmodSync(world.cassHome, 0o755)
    const { ok, findings } = await check(world)
    expect(ok).toBe(true)
    expect(findings.some(({ severity }) => severity === 'warning')).toBe(true)
    expect((await check(world, ['--strict'])).ok).toBe(false)
  })

  test('asks the provider for its models with --probe, and says when it is not there', async ({ world }) => {
    expect((await check(world, ['--probe'])).ok).toBe(true)
    expect(world.provider.requests.map(({ path }) => path)).toEqual(['/v1/models'])
    world.provider.setScript({ modelsReply: { status: 401, body: { error: { message: `bad ${key}` } } } })
    expect((await check(world, ['--probe'])).ok).toBe(false)
    await world.provider.close()
    expect((await check(world, ['--probe'])).ok).toBe(false)
  })

  test('a missing model is found, and a repaired set-up is sound again', async ({ world }) => {
    const path = join(world.cassHome, 'providers.json')
    rmSync(path)
    expect((await check(world)).ok).toBe(false)
    const provider = { id: 'scripted', kind: 'openai-compatible', base_url: world.provider.url, api_key: key }
    writeFileSync(path, JSON.stringify({ providers: [{ ...provider, default_model: 'm' }] }), { mode: 0o600 })
    expect((await check(world)).ok).toBe(true)
  })
})
