import { describe, expect, it } from 'vitest'
import {
  type AccessMode,
  type AccessPolicy,
  availabilityOf,
  decide,
  isGitName,
  isInside,
} from '../../../sources/workspace/policy.ts'

const base: Omit<AccessPolicy, 'mode'> = {
  workspace: '/work',
  docsFolder: '/home/me/.cass/docs-cass',
  cassHome: '/home/me/.cass',
}

function decidePaths(mode: AccessMode, tool: string, ...names: string[]) {
  const paths = names.map((name) => ({ lexical: name, real: name }))
  return decide({ tool, paths, command: tool === 'shell' ? 'make' : null }, { ...base, mode })
}

describe('decide', () => {
  it('follows the table of modes and tools', () => {
    const table = (['read-only', 'workspace-edit', 'full-access'] as const).map((mode) =>
      ['ls', 'read', 'grep', 'write', 'edit', 'shell', 'other'].map((tool) => availabilityOf(tool, mode)),
    )
    const [yes, no, ask] = ['available', 'unavailable', 'requires_approval']
    expect(table).toEqual([
      [yes, yes, yes, no, no, no, no],
      [yes, yes, yes, yes, yes, ask, no],
      [yes, yes, yes, yes, yes, yes, no],
    ])
  })

  it('asks for the shell in workspace-edit with the text of the command', () => {
    expect(decidePaths('workspace-edit', 'shell')).toEqual({
      type: 'ask',
      reason: expect.stringContaining('make'),
    })
    expect(decidePaths('full-access', 'shell')).toEqual({ type: 'allow' })
    expect(decidePaths('read-only', 'shell')).toEqual({
      type: 'deny',
      reason: 'shell is unavailable in read-only mode',
    })
  })

  it('looks at every path of a call, not only at the first', () => {
    expect(decidePaths('read-only', 'read', '/work/a', '/work/b')).toEqual({ type: 'allow' })
    expect(decidePaths('read-only', 'read', '/work/a', '/etc/passwd')).toEqual({
      type: 'deny',
      reason: 'path escapes read-only roots: /etc/passwd (allowed roots: /work, /home/me/.cass/docs-cass)',
    })
    expect(decidePaths('workspace-edit', 'grep', '/work', '/workshop').type).toBe('deny')
  })

  it('decides by the real path, and for what is protected by the written one as well', () => {
    const policy: AccessPolicy = { ...base, mode: 'workspace-edit' }
    const write = (lexical: string, real: string) =>
      decide({ tool: 'write', paths: [{ lexical, real }], command: null }, policy).type
    expect(write('/work/a', '/work/a')).toBe('allow')
    expect(write('/work/link/a', '/other/a')).toBe('deny')
    expect(write('/other/link', '/work/a')).toBe('allow')
    expect(write('/work/link', '/work/.git/config')).toBe('deny')
    expect(write('/work/.git/link', '/work/a')).toBe('deny')
    expect(write('/home/me/.cass/docs-cass/link', '/work/a')).toBe('deny')
  })

  it('never writes what is protected, in any mode and letter case', () => {
    for (const name of [
      '/work/.git',
      '/work/.git/config',
      '/work/sub/.GIT/hooks/x',
      '/work/.git./config',
      '/work/git~1/config',
      '/work/.git::$INDEX_ALLOCATION/x',
      '/work/.g\u200cit/x',
      '/home/me/.cass/config.json',
      '/home/me/.CASS/config.json',
      '/home/me/.cass',
      '/home/me/.cass/docs-cass/a.md',
    ]) {
      for (const mode of ['workspace-edit', 'full-access'] as const) {
        expect([name, decidePaths(mode, 'write', name).type]).toEqual([name, 'deny'])
      }
    }
    for (const name of [
      '/work/.gitignore',
      '/work/.github/x',
      '/work/git',
      '/home/me/.cassette',
      '/work/a.git/x',
    ]) {
      expect([name, decidePaths('full-access', 'edit', name).type]).toEqual([name, 'allow'])
    }
  })

  it('never reads below the folder of cass but the bundled docs, in any mode and spelling', () => {
    const home: Omit<AccessPolicy, 'mode'> = { ...base, workspace: '/home/me' }
    const read = (mode: AccessMode, lexical: string, real: string) =>
      decide({ tool: 'read', paths: [{ lexical, real }], command: null }, { ...home, mode })
    const inside = (name: string) => `/home/me/.cass${name}`
    const cases: ReadonlyArray<readonly [string, string, 'allow' | 'deny']> = [
      ...['', '/providers.json', '/conversations/x.jsonl', '/docs-cass2/a', '/docs'].map(
        (name) => [inside(name), inside(name), 'deny'] as const,
      ),
      ['/home/me/.CASS/providers.json', '/home/me/.CASS/providers.json', 'deny'],
      ['/home/me/.CASS/Docs-cass/a.md', '/home/me/.CASS/Docs-cass/a.md', 'deny'],
      ['/home/me/link', inside('/providers.json'), 'deny'],
      [inside('/link'), '/home/me/dotfiles/providers.json', 'deny'],
      [inside('/docs-cass/link'), inside('/providers.json'), 'deny'],
      [inside('/docs-cass'), inside('/docs-cass'), 'allow'],
      [inside('/docs-cass/a.md'), inside('/docs-cass/a.md'), 'allow'],
      ['/home/me/manual/a.md', inside('/docs-cass/a.md'), 'allow'],
      ['/home/me/.cassette', '/home/me/.cassette', 'allow'],
      ['/home/me/x/.cass/a', '/home/me/x/.cass/a', 'allow'],
      ['/home/me', '/home/me', 'allow'],
    ]
    for (const mode of ['read-only', 'workspace-edit', 'full-access'] as const) {
      for (const [lexical, real, type] of cases) {
        expect([mode, lexical, real, read(mode, lexical, real).type]).toEqual([mode, lexical, real, type])
      }
    }
    expect(read('full-access', '/home/me/link', inside('/providers.json'))).toEqual({
      type: 'deny',
      reason:
        'reads are blocked under the folder of cass itself: /home/me/link (really /home/me/.cass/providers.json)',
    })
    // Decomposed and composed letters are one name.
    const odd = { ...home, mode: 'full-access' as const, cassHome: '/home/e\u0301/.cass' }
    const composed = { lexical: '/home/\u00e9/.cass/x', real: '/home/\u00e9/.cass/x' }
    expect(decide({ tool: 'grep', paths: [composed], command: null }, odd).type).toBe('deny')
  })

  it('never reads the environment or the memory of a process', () => {
    for (const name of [
      '/proc/12/environ',
      '/proc/12/mem',
      '/proc/12/task/13/environ',
      '/proc/self/environ',
    ]) {
      expect([name, decidePaths('full-access', 'read', name).type]).toEqual([name, 'deny'])
    }
    for (const name of ['/proc/12/status', '/proc/meminfo', '/work/proc/12/environ', '/proc']) {
      expect([name, decidePaths('full-access', 'read', name).type]).toEqual([name, 'allow'])
    }
  })

  it('knows the names that mean .git', () => {
    expect(['.git', '.Git', '.git. .', 'GIT~1', '.git:x'].every(isGitName)).toBe(true)
    expect(['git', '.gitx', '.gitignore', 'x.git', '..git', ''].some(isGitName)).toBe(false)
  })

  it('compares paths by components', () => {
    expect(isInside('/a/b', '/a')).toBe(true)
    expect(isInside('/a', '/a')).toBe(true)
    expect(isInside('/ab', '/a')).toBe(false)
    expect(isInside('/a/..b', '/a')).toBe(true)
    expect(isInside('/', '/a')).toBe(false)
    expect(isInside('/a', '/')).toBe(true)
  })
})
