import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { check, linesOf, makePrograms } from './_checks.ts'
import { makeHome } from './_config.ts'

const ready = {
  'config.json': { default_provider: 'a' },
  'providers.json': {
    providers: [
      {
        id: 'a',
        kind: 'openai-compatible',
        base_url: 'https://a.example/v1?token=x',
        api_key: '$A_KEY',
        default_model: 'm',
      },
      { id: 'b', kind: 'openai-compatible', base_url: 'https://b.example/v1', api_key: '$B_KEY' },
      { id: 'c', kind: 'chatgpt-codex', base_url: 'https://c.example' },
    ],
  },
  'models.json': { models: [{ id: 'm', provider: 'a' }] },
}

const machine = [
  'ok folder_private ~/.cass: only yours to read and write',
  "ok cass_not_on_path 'cass' is not on PATH",
  'ok git_version git: 2.50.1',
  'ok platform platform: linux 6.1 x64, Node 20.20.2',
  'ok terminal terminal: xterm-256color',
  'ok shell shell: /bin/sh',
  'ok workspace folder: ~',
]

describe('cass check', () => {
  test('reports files, provider, folder, git and machine in that order', async () => {
    const report = await check(makeHome(ready), { env: { A_KEY: 'k' } })
    expect(linesOf(report)).toEqual([
      'ok file_valid ~/.cass/config.json: valid',
      'ok file_valid ~/.cass/providers.json: valid (3 providers)',
      'ok file_valid ~/.cass/models.json: valid (1 model)',
      'ok file_absent ~/.cass/settings.json: not present (using defaults)',
      'ok active_provider active provider: a',
      'ok active_base_url active provider base URL: https://a.example/v1',
      'ok active_model active model: m',
      'ok api_key_set api key: A_KEY is set',
      "warning inactive_api_key_missing provider 'b' api key: environment variable 'B_KEY' is not set",
      "ok provider_left_alone provider 'c': left alone, only other programs use the kind 'chatgpt-codex'",
      ...machine,
    ])
    expect(report).toMatchObject({ ok: true, next_steps: [] })
    for (const finding of report.findings) {
      expect(Object.keys(finding)).toEqual(['severity', 'code', 'subject', 'message', 'hint'])
    }
  })

  test('of an untouched home says what to do, and makes no file', async () => {
    const root = makeHome()
    const report = await check(root)
    expect(report).toMatchObject({
      ok: false,
      next_steps: ['write ~/.cass/providers.json, as README.md shows', 'cass chat --demo'],
    })
    expect(linesOf(report)).toEqual([
      'ok file_absent ~/.cass/config.json: not present (using defaults)',
      'ok file_absent ~/.cass/providers.json: not present (using defaults)',
      'ok file_absent ~/.cass/models.json: not present (using defaults)',
      'ok file_absent ~/.cass/settings.json: not present (using defaults)',
      'error no_provider active config: no provider is set up',
      ...machine,
    ])
    expect(readdirSync(root)).toEqual([])
    rmSync(root, { recursive: true })
    rmSync(path.join(path.dirname(root), 'bin'), { recursive: true })
    expect(linesOf(await check(root))).toContain(
      'ok folder_absent ~/.cass: not present (made when it is first needed)',
    )
    expect(readdirSync(path.dirname(root))).toEqual(['bin'])
  })

  test('tells the folder, and where its workspace begins', async () => {
    const root = makeHome(ready)
    const base = path.dirname(root)
    const report = await check(root, {
      env: { A_KEY: 'k' },
      cwd: path.join(base, 'a', 'b'),
      workspace: path.join(base, 'a'),
    })
    expect(linesOf(report)).toContain('ok workspace folder: ~/a/b, in the workspace ~/a')
  })

  test('changes no permission and no time of what it looks at', async () => {
    const root = makeHome(ready)
    chmodSync(root, 0o755)
    const before = readdirSync(root).map((name) => statSync(path.join(root, name)))
    await check(root)
    expect(
      readdirSync(root).map((name) => ({ ...statSync(path.join(root, name)), atimeMs: 0, atime: 0 })),
    ).toEqual(before.map((one) => ({ ...one, atimeMs: 0, atime: 0 })))
    expect(statSync(root).mode & 0o777).toBe(0o755)
  })

  test.each<[string, Record<string, string>, string, ReadonlyArray<string>]>([
    [
      'linux',
      {},
      "error api_key_missing api key: environment variable 'A_KEY' is not set",
      ['export A_KEY=...', 'cass check', 'cass'],
    ],
    [
      'win32',
      { A_KEY: '' },
      "error api_key_empty api key: environment variable 'A_KEY' is empty",
      ['$env:A_KEY = "..."', 'cass check', 'cass'],
    ],
  ])('says on %s how to set the key that is missing', async (os, env, line, steps) => {
    const platform = { os, release: '', arch: '', node: '', isInteractive: true, home: null, program: null }
    const report = await check(makeHome(ready), { env, platform })
    expect(linesOf(report)).toContain(line)
    expect(report).toMatchObject({ ok: false, next_steps: steps })
  })

  test('passes a literal key without showing it, and a local server without a key', async () => {
    const entry = { id: 'a', kind: 'openai-compatible', base_url: 'https://a.example', api_key: 'sk-literal' }
    const report = await check(
      makeHome({ ...ready, 'providers.json': { providers: [{ ...entry, default_model: 'm' }] } }),
    )
    expect(report.ok).toBe(true)
    expect(linesOf(report)).toContain('ok api_key_literal api key: literal value configured')
    expect(JSON.stringify(report)).not.toContain('sk-literal')
    const local = { ...entry, api_key: '', base_url: 'http://localhost:1' }
    const keyless = await check(makeHome({ ...ready, 'providers.json': { providers: [local] } }))
    expect(linesOf(keyless)).toContain('ok api_key_not_required api key: not required (local API)')
  })

  test('applies the command line to the active part', async () => {
    const overrides = { base_url: 'https://x.example', api_key_env: 'X_KEY', model: 'n' }
    expect(linesOf(await check(makeHome(ready), { overrides, env: { X_KEY: 'k' } }))).toEqual(
      expect.arrayContaining([
        'ok active_base_url active provider base URL: https://x.example',
        'ok active_model active model: n',
        "warning active_model_unknown active model: 'n' has no entry in models.json for the provider 'a'",
        'ok api_key_set api key: X_KEY is set',
      ]),
    )
    const stolen = await check(makeHome(ready), {
      overrides: { base_url: 'https://x.example' },
      env: { A_KEY: 'k' },
    })
    expect(stolen.findings.find(({ code }) => code === 'key_host_mismatch')?.severity).toBe('error')
  })

  test('refuses an active provider of a kind of other programs', async () => {
    const report = await check(makeHome({ ...ready, 'config.json': { default_provider: 'c' } }))
    expect(linesOf(report)).toContain(
      "error provider_kind_unsupported active config: the provider 'c' is of the kind 'chatgpt-codex', which is not supported",
    )
    expect(report.next_steps).toEqual(['edit ~/.cass/providers.json', 'cass check'])
  })

  test('shows all faults of all files at once and guesses no active provider', async () => {
    const report = await check(
      makeHome({
        'config.json': { x: 1, default_provider: 'gone' },
        'providers.json': '{,}',
        'models.json': { models: [{}] },
        'settings.json': '[',
      }),
    )
    expect(report.ok).toBe(false)
    expect(
      report.findings.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    ).toEqual([
      'config.json: x: unknown field',
      'providers.json: line 1, column 2: a field name must stand in double quotes',
      'models.json: models[0].id: is required',
      'models.json: models[0].provider: is required',
      'settings.json: line 1, column 2: the file ends too early',
    ])
    expect(report.findings.some(({ code }) => code.startsWith('active'))).toBe(false)
    expect(report.next_steps).toEqual([
      'edit ~/.cass/config.json',
      'edit ~/.cass/providers.json',
      'edit ~/.cass/models.json',
      'edit ~/.cass/settings.json',
      'cass check',
    ])
  })

  test('warns of unknown settings, and still tells the active provider beside faulty ones', async () => {
    const warned = await check(makeHome({ ...ready, 'settings.json': { colour: 1 } }), {
      env: { A_KEY: 'k' },
    })
    expect(warned.ok).toBe(true)
    expect(linesOf(warned)).toContain('warning unknown_field settings.json: colour: unknown field')
    const faulty = await check(makeHome({ ...ready, 'settings.json': { retries: 'x' } }), {
      env: { A_KEY: 'k' },
    })
    expect(faulty.ok).toBe(false)
    expect(linesOf(faulty)).toContain('ok active_provider active provider: a')
  })

  test('shows the findings of others behind git, and their errors count', async () => {
    const extra = {
      severity: 'error',
      code: 'unfinished_operation',
      subject: 'op',
      message: 'op',
      hint: null,
    } as const
    const report = await check(makeHome(ready), { env: { A_KEY: 'k' }, extraFindings: [extra] })
    const codes = report.findings.map(({ code }) => code)
    expect(codes.slice(codes.indexOf('git_version'))).toEqual([
      'git_version',
      'unfinished_operation',
      'platform',
      'terminal',
      'shell',
      'workspace',
    ])
    expect(report.ok).toBe(false)
  })
})

describe('the folder', () => {
  test('and what is in it may be open to nobody else', async () => {
    const root = makeHome(ready)
    mkdirSync(path.join(root, 'conversations'), { mode: 0o755 })
    chmodSync(path.join(root, 'providers.json'), 0o640)
    chmodSync(root, 0o750)
    const report = await check(root, { env: { A_KEY: 'k' } })
    expect(
      report.findings.filter(({ code }) => code.endsWith('_permissions')).map(({ hint }) => hint),
    ).toEqual([
      "run 'chmod 700 ~/.cass'",
      "run 'chmod 700 ~/.cass/conversations'",
      "run 'chmod 600 ~/.cass/providers.json'",
    ])
    expect(report.ok).toBe(true)
  })

  test('must be a folder', async () => {
    const root = makeHome()
    rmSync(root, { recursive: true })
    writeFileSync(root, '')
    const report = await check(root)
    expect(linesOf(report)).toContain('error folder_invalid ~/.cass: is not a folder')
    expect(linesOf(report)).toContain('error file_unreadable config.json: cannot be read (ENOTDIR)')
  })

  test.skipIf(process.getuid?.() === 0)('must be writable', async () => {
    const root = makeHome()
    chmodSync(root, 0o500)
    expect(linesOf(await check(root))).toContain('error folder_not_writable ~/.cass: is not writable')
  })
})

describe('the programs', () => {
  test('on PATH: our own is told, also through a link, and another one is a warning', async () => {
    const root = makeHome()
    const base = path.dirname(root)
    const ours = makePrograms(base, 'ours', { 'cass.js': '' })
    const linked = makePrograms(base, 'linked', {})
    symlinkSync(path.join(ours, 'cass.js'), path.join(linked, 'cass'))
    const foreign = makePrograms(base, 'foreign', { cass: '' })
    const unusable = makePrograms(base, 'unusable', { cass: '' })
    chmodSync(path.join(unusable, 'cass'), 0o644)
    const platform = {
      os: 'linux',
      release: '',
      arch: '',
      node: '',
      isInteractive: false,
      home: base,
      program: path.join(ours, 'cass.js'),
    }
    const lineFor = async (...folders: ReadonlyArray<string>) => {
      rmSync(path.join(base, 'bin'), { recursive: true, force: true })
      const report = await check(root, { env: { PATH: folders.join(':') }, platform })
      return linesOf(report).find((line) => line.includes('cass') && line.includes('PATH'))
    }
    expect(await lineFor(unusable, linked, foreign)).toBe("ok cass_on_path 'cass' on PATH: ~/linked/cass")
    expect(await lineFor(foreign, linked)).toBe(
      "warning foreign_cass 'cass' on PATH is another program: ~/foreign/cass",
    )
    expect(await lineFor('./foreign')).toBe(
      "warning foreign_cass 'cass' on PATH is another program: ~/foreign/cass",
    )
    expect(await lineFor(unusable)).toBe("ok cass_not_on_path 'cass' is not on PATH")
  })

  test('git may be missing or broken', async () => {
    const root = makeHome()
    expect(linesOf(await check(root, { env: { PATH: '/nonexistent' } }))).toContain(
      'warning git_missing git: not found on PATH',
    )
    const broken = makePrograms(path.dirname(root), 'broken', { git: '#!/bin/sh\nexit 3\n' })
    rmSync(path.join(path.dirname(root), 'bin'), { recursive: true })
    expect(linesOf(await check(root, { env: { PATH: broken } }))).toContain(
      'warning git_missing git: not found on PATH',
    )
    rmSync(path.join(path.dirname(root), 'bin'), { recursive: true })
    expect(linesOf(await check(root, { cwd: '/nonexistent' }))).toContain(
      'warning git_missing git: not found on PATH',
    )
  })
})

describe('--probe', () => {
  const probe = (listModels: () => Promise<ReadonlyArray<string>>, limitMs = 1000) =>
    check(makeHome(ready), { env: { A_KEY: 'sk-hidden' }, probes: { listModels, limitMs } })

  test('says whether the provider answers and has the model', async () => {
    expect(linesOf(await probe(async () => ['m', 'n']))).toContain(
      "ok models_listed provider answers: 2 models, 'm' among them",
    )
    const other = await probe(async () => ['n'])
    expect(linesOf(other)).toContain(
      "warning model_not_listed provider answers, but 'm' is not among its 1 models",
    )
    expect(other.ok).toBe(true)
  })

  test('reports a failure without the key in it', async () => {
    const report = await probe(() => Promise.reject(new Error('401: bad key sk-hidden')))
    expect(linesOf(report)).toContain('error probe_failed provider does not answer: 401: bad key <API key>')
    expect(report.ok).toBe(false)
    expect(JSON.stringify(report)).not.toContain('sk-hidden')
  })

  test('does not wait for ever, and tells the other side', async () => {
    let reason: unknown
    const report = await check(makeHome(ready), {
      env: { A_KEY: 'k' },
      probes: {
        limitMs: 5,
        listModels: ({ signal }) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
          })
          return new Promise(() => {})
        },
      },
    })
    expect(linesOf(report)).toContain('error probe_failed provider does not answer: no answer within 0.005 s')
    expect(String(reason)).toContain('no answer')
  })

  test('asks nobody when no request could be made', async () => {
    let asked = false
    await check(makeHome(ready), {
      probes: {
        limitMs: 1000,
        listModels: async () => {
          asked = true
          return []
        },
      },
    })
    expect(asked).toBe(false)
  })
})
