import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { CassError } from '../../../sources/errors.ts'
import { type AccessPolicy, decideRead, decideWrite } from '../../../sources/workspace/policy.ts'
import { expandPath, resolvePath } from '../../../sources/workspace/realPath.ts'

const made: string[] = []
afterEach(() => {
  for (const root of made.splice(0)) rmSync(root, { recursive: true, force: true })
})

function makeRoot(): string {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cass-path-')))
  made.push(root)
  return root
}

describe('expandPath', () => {
  it.each([
    ['a', '/work/a'],
    ['./a/../b', '/work/b'],
    ['/x/./y', '/x/y'],
    ['~', '/home/me'],
    ['~/a', '/home/me/a'],
    ['~other', '/work/~other'],
    ['../../..', '/'],
  ])('takes %j for %j', (asked, expected) => {
    expect(expandPath(asked, { cwd: '/work', home: '/home/me' })).toBe(expected)
  })
})

describe('resolvePath', () => {
  it('makes the nearest existing folder canonical and keeps the missing names', async () => {
    const root = makeRoot()
    mkdirSync(path.join(root, 'real'))
    symlinkSync('real', path.join(root, 'link'))
    const base = { cwd: root, home: root }
    expect(await resolvePath('link/a/b', base)).toEqual({
      asked: 'link/a/b',
      lexical: path.join(root, 'link/a/b'),
      real: path.join(root, 'real/a/b'),
      exists: false,
    })
    expect((await resolvePath('link', base)).real).toBe(path.join(root, 'real'))
  })
})

describe('the policy on real paths', () => {
  it('never lets a path through that really is outside or protected, whatever links there are', async () => {
    const names = ['a', 'b', '.git', 'out']
    const step = fc.constantFrom(...names, '..', '.', 'new')
    const relative = fc.array(step, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    const place = fc.constantFrom('', 'a', 'b', 'a/b', '../outside', '../outside/a')
    const links = fc.array(
      fc.record({ at: place, name: fc.constantFrom('l', 'a', 'out', 'm'), to: relative }),
      { maxLength: 5 },
    )
    const asked = fc
      .array(fc.constantFrom('l', 'm', 'a', 'b', 'out', '.git', '..', 'new'), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join('/'))
    await fc.assert(
      fc.asyncProperty(links, asked, async (made, wanted) => {
        const root = makeRoot()
        const workspace = path.join(root, 'work')
        for (const folder of ['work/a/b', 'work/b', 'work/.git', 'outside/a', 'docs', 'cass']) {
          mkdirSync(path.join(root, folder), { recursive: true })
        }
        for (const { at, name, to } of made) {
          try {
            symlinkSync(to, path.join(workspace, at, name))
          } catch {
            // The name is taken, or the folder is no folder by now.
          }
        }
        const policy: AccessPolicy = {
          mode: 'workspace-edit',
          workspace,
          docsFolder: path.join(root, 'docs'),
          cassHome: path.join(root, 'cass'),
        }
        try {
          const found = await resolvePath(wanted, { cwd: workspace, home: root })
          // Written without asking, to see where the bytes really land.
          if (decideWrite(found, policy).type === 'allow') {
            const before = listFiles(root)
            try {
              mkdirSync(path.dirname(found.real), { recursive: true })
              writeFileSync(found.real, 'x')
            } catch {
              // It is a folder.
            }
            for (const file of listFiles(root).filter((each) => !before.includes(each))) {
              const real = realpathSync(file)
              expect(real.startsWith(`${workspace}/`)).toBe(true)
              expect(real.split('/')).not.toContain('.git')
            }
          }
          if (found.exists && decideRead(found, policy).type === 'allow') {
            expect(`${realpathSync(found.real)}/`.startsWith(`${workspace}/`)).toBe(true)
          }
        } catch (error) {
          if (!(error instanceof CassError)) throw error
        }
      }),
      { numRuns: 300 },
    )
  })
})

function listFiles(root: string): string[] {
  const entries = readdirSync(root, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
}

it('the helper of the property sees files', () => {
  const root = makeRoot()
  writeFileSync(path.join(root, 'a'), 'x')
  expect(listFiles(root).map((file) => readFileSync(file, 'utf8'))).toEqual(['x'])
})
