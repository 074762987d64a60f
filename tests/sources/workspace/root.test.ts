import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ensureWorkspaceFolder,
  findWorkspace,
  readWorkspaceRoot,
  workspaceFolder,
} from '../../../sources/workspace/root.ts'

let folder = ''

beforeEach(() => {
  folder = realpathSync.native(mkdtempSync(path.join(os.tmpdir(), 'cass-root-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function make(...names: string[]): string {
  const made = path.join(folder, ...names)
  mkdirSync(made, { recursive: true })
  return made
}

describe('the workspace of a folder', () => {
  test('is its nearest ancestor with a .git, named by the hash of its path', () => {
    make('outer/.git')
    const root = make('outer/inner')
    make('outer/inner/.git')
    const key = createHash('sha256').update(root).digest('hex').slice(0, 16)
    expect(findWorkspace(make('outer/inner/src/deep'))).toEqual({ root, key })
  })

  test('counts a .git that is a file, as in a worktree', () => {
    const root = make('tree')
    writeFileSync(path.join(root, '.git'), 'gitdir: elsewhere\n')
    expect(findWorkspace(make('tree/src')).root).toBe(root)
  })

  test('is the folder itself without a .git', () => {
    expect(findWorkspace(make('plain/deep')).root).toBe(path.join(folder, 'plain/deep'))
  })

  test('is the same through a link', () => {
    const root = make('real')
    make('real/.git')
    symlinkSync(root, path.join(folder, 'link'))
    expect(findWorkspace(path.join(folder, 'link')).root).toBe(root)
  })

  test.each(['missing', 'file'])('cannot be found from a %s', (name) => {
    writeFileSync(path.join(folder, 'file'), '')
    expect(() => findWorkspace(path.join(folder, name))).toThrow(
      expect.objectContaining({ code: 'folder_not_found' }),
    )
  })
})

describe('the folder of a workspace', () => {
  test('is private and says once whose it is and how names compare there', async () => {
    const workspace = findWorkspace(make('Work'))
    const home = path.join(folder, 'home')
    const made = await ensureWorkspaceFolder(home, workspace)
    expect(made).toBe(workspaceFolder(home, workspace.key))
    const about = path.join(made, 'about.json')
    expect(JSON.parse(readFileSync(about, 'utf8'))).toEqual({
      v: 1,
      root: workspace.root,
      case: expect.stringMatching(/^(in)?sensitive$/),
      unicode: expect.stringMatching(/^(exact|nfc)$/),
    })
    expect(statSync(made).mode & 0o777).toBe(0o700)
    writeFileSync(about, '{"root":"/kept"}')
    await ensureWorkspaceFolder(home, workspace)
    expect(await readWorkspaceRoot(home, workspace.key)).toBe('/kept')
  })

  test('tells case by asking the file system', async () => {
    const workspace = findWorkspace(make('Work'))
    const home = path.join(folder, 'home')
    const made = await ensureWorkspaceFolder(home, workspace)
    const other = path.join(folder, 'wORK')
    const insensitive = statSync(other, { throwIfNoEntry: false })?.ino === statSync(workspace.root).ino
    expect(JSON.parse(readFileSync(path.join(made, 'about.json'), 'utf8')).case).toBe(
      insensitive ? 'insensitive' : 'sensitive',
    )
  })

  test('without a readable description has no known root', async () => {
    const home = path.join(folder, 'home')
    expect(await readWorkspaceRoot(home, 'k')).toBeNull()
    make('home/workspaces/k')
    writeFileSync(path.join(folder, 'home/workspaces/k/about.json'), '{')
    expect(await readWorkspaceRoot(home, 'k')).toBeNull()
  })
})
