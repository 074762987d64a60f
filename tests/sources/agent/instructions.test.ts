import { execFileSync } from 'node:child_process'
import { chmod, link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readInstructions } from '../../../sources/agent/instructions.ts'
import { makeIsClosed } from '../../../sources/workspace/ownSpelling.ts'

let top: string
let root: string
const isClosed = (path: string) => makeIsClosed(join(root, '.cass'))(path)

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'cass-instructions-')))
  root = join(top, 'project')
  await mkdir(join(root, 'packages/a'), { recursive: true })
})

afterEach(() => rm(top, { recursive: true, force: true }))

describe('readInstructions', () => {
  it('finds nothing in a project without any', async () => {
    expect(await readInstructions({ root, folder: root, isClosed })).toEqual({ files: [], skipped: [] })
  })

  it('reads from the root down to the folder, and nothing above or beside', async () => {
    await mkdir(join(root, 'packages/b'))
    await writeFile(join(top, 'AGENTS.md'), 'above')
    await writeFile(join(root, 'AGENTS.md'), 'root')
    await writeFile(join(root, 'packages/a/AGENTS.md'), 'nested')
    await writeFile(join(root, 'packages/b/AGENTS.md'), 'beside')
    const { files } = await readInstructions({ root, folder: join(root, 'packages/a'), isClosed })
    expect(files).toEqual([
      { path: 'AGENTS.md', content: 'root', cut: false },
      { path: 'packages/a/AGENTS.md', content: 'nested', cut: false },
    ])
  })

  it('reads a folder alone that is not inside the root', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'root')
    expect((await readInstructions({ root, folder: top, isClosed })).files).toEqual([])
  })

  it('follows a link inside the project and none that leads out', async () => {
    await writeFile(join(top, 'secret.md'), 'secret')
    await writeFile(join(root, 'RULES.md'), 'rules')
    await symlink(join(top, 'secret.md'), join(root, 'AGENTS.md'))
    await symlink(join(root, 'RULES.md'), join(root, 'packages/AGENTS.md'))
    expect(await readInstructions({ root, folder: join(root, 'packages'), isClosed })).toEqual({
      files: [{ path: 'packages/AGENTS.md', content: 'rules', cut: false }],
      skipped: [{ path: 'AGENTS.md', reason: 'it is a link that leads out of the workspace' }],
    })
  })

  it('reads nothing in the folder of cass, by whatever way', async () => {
    const cassHome = join(root, '.cass')
    await mkdir(join(cassHome, 'below'), { recursive: true })
    await writeFile(join(cassHome, 'providers.json'), 'key')
    await writeFile(join(cassHome, 'AGENTS.md'), 'own')
    await symlink('.cass/providers.json', join(root, 'AGENTS.md'))
    await symlink(join(root, 'packages'), join(cassHome, 'below/AGENTS.md'))
    await link(join(cassHome, 'providers.json'), join(root, 'packages/AGENTS.md'))
    const reason = 'it is in the folder of cass itself'
    expect(await readInstructions({ root, folder: join(cassHome, 'below'), isClosed })).toEqual({
      files: [],
      skipped: ['AGENTS.md', '.cass/AGENTS.md', '.cass/below/AGENTS.md'].map((path) => ({ path, reason })),
    })
    expect(await readInstructions({ root, folder: join(root, 'packages'), isClosed })).toEqual({
      files: [],
      skipped: ['AGENTS.md', 'packages/AGENTS.md'].map((path) => ({ path, reason })),
    })
  })

  it('skips and reports what is no text', async () => {
    await writeFile(join(root, 'AGENTS.md'), Buffer.from([0x61, 0xff, 0x62]))
    await writeFile(join(root, 'packages/AGENTS.md'), 'a\0b')
    await mkdir(join(root, 'packages/a/AGENTS.md'))
    const { files, skipped } = await readInstructions({ root, folder: join(root, 'packages/a'), isClosed })
    expect(files).toEqual([])
    expect(skipped).toEqual([
      { path: 'AGENTS.md', reason: 'it is not UTF-8' },
      { path: 'packages/AGENTS.md', reason: 'it is not text' },
      { path: 'packages/a/AGENTS.md', reason: 'it is not a regular file' },
    ])
  })

  it('does not wait for a named pipe', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(root, 'AGENTS.md')])
    const { skipped } = await readInstructions({ root, folder: root, isClosed })
    expect(skipped).toEqual([{ path: 'AGENTS.md', reason: 'it is not a regular file' }])
  })

  it.skipIf(process.getuid?.() === 0)('skips and reports a file that may not be read', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'root')
    await chmod(join(root, 'AGENTS.md'), 0o000)
    const { skipped } = await readInstructions({ root, folder: root, isClosed })
    expect(skipped).toEqual([{ path: 'AGENTS.md', reason: 'it cannot be read (EACCES)' }])
  })

  it('cuts at 32 KiB in all, never inside a character, the nearest file first', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'é'.repeat(20_000))
    await writeFile(join(root, 'packages/AGENTS.md'), 'n'.repeat(1023))
    const { files } = await readInstructions({ root, folder: join(root, 'packages'), isClosed })
    expect(files.map(({ path, cut }) => [path, cut])).toEqual([
      ['AGENTS.md', true],
      ['packages/AGENTS.md', false],
    ])
    expect(files[0]!.content).toBe('é'.repeat((32 * 1024 - 1023 - 1) / 2))
  })

  it('takes off a byte order mark', async () => {
    await writeFile(join(root, 'AGENTS.md'), '\ufeffroot')
    expect((await readInstructions({ root, folder: root, isClosed })).files[0]!.content).toBe('root')
  })
})
