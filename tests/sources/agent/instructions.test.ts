import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readInstructions } from '../../../sources/agent/instructions.ts'

let top: string
let root: string

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'cass-instructions-')))
  root = join(top, 'project')
  await mkdir(join(root, 'packages/a'), { recursive: true })
})

afterEach(() => rm(top, { recursive: true, force: true }))

describe('readInstructions', () => {
  it('finds nothing in a project without any', async () => {
    expect(await readInstructions({ root, folder: root })).toEqual({ files: [], skipped: [] })
  })

  it('reads from the root down to the folder, and nothing above or beside', async () => {
    await mkdir(join(root, 'packages/b'))
    await writeFile(join(top, 'AGENTS.md'), 'above')
    await writeFile(join(root, 'AGENTS.md'), 'root')
    await writeFile(join(root, 'packages/a/AGENTS.md'), 'nested')
    await writeFile(join(root, 'packages/b/AGENTS.md'), 'beside')
    const { files } = await readInstructions({ root, folder: join(root, 'packages/a') })
    expect(files).toEqual([
      { path: 'AGENTS.md', content: 'root', cut: false },
      { path: 'packages/a/AGENTS.md', content: 'nested', cut: false },
    ])
  })

  it('reads a folder alone that is not inside the root', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'root')
    expect((await readInstructions({ root, folder: top })).files).toEqual([])
  })

  it('follows a link inside the project and none that leads out', async () => {
    await writeFile(join(top, 'secret.md'), 'secret')
    await writeFile(join(root, 'RULES.md'), 'rules')
    await symlink(join(top, 'secret.md'), join(root, 'AGENTS.md'))
    await symlink(join(root, 'RULES.md'), join(root, 'packages/AGENTS.md'))
    expect(await readInstructions({ root, folder: join(root, 'packages') })).toEqual({
      files: [{ path: 'packages/AGENTS.md', content: 'rules', cut: false }],
      skipped: [{ path: 'AGENTS.md', reason: 'it is a link that leads out of the workspace' }],
    })
  })

  it('skips and reports what is no text', async () => {
    await writeFile(join(root, 'AGENTS.md'), Buffer.from([0x61, 0xff, 0x62]))
    await writeFile(join(root, 'packages/AGENTS.md'), 'a\0b')
    await mkdir(join(root, 'packages/a/AGENTS.md'))
    const { files, skipped } = await readInstructions({ root, folder: join(root, 'packages/a') })
    expect(files).toEqual([])
    expect(skipped).toEqual([
      { path: 'AGENTS.md', reason: 'it is not UTF-8' },
      { path: 'packages/AGENTS.md', reason: 'it is not text' },
      { path: 'packages/a/AGENTS.md', reason: 'it is not a regular file' },
    ])
  })

  it('does not wait for a named pipe', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(root, 'AGENTS.md')])
    const { skipped } = await readInstructions({ root, folder: root })
    expect(skipped).toEqual([{ path: 'AGENTS.md', reason: 'it is not a regular file' }])
  })

  it.skipIf(process.getuid?.() === 0)('skips and reports a file that may not be read', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'root')
    await chmod(join(root, 'AGENTS.md'), 0o000)
    const { skipped } = await readInstructions({ root, folder: root })
    expect(skipped).toEqual([{ path: 'AGENTS.md', reason: 'it cannot be read (EACCES)' }])
  })

  it('cuts at 32 KiB in all, never inside a character, the nearest file first', async () => {
    await writeFile(join(root, 'AGENTS.md'), 'é'.repeat(20_000))
    await writeFile(join(root, 'packages/AGENTS.md'), 'n'.repeat(1023))
    const { files } = await readInstructions({ root, folder: join(root, 'packages') })
    expect(files.map(({ path, cut }) => [path, cut])).toEqual([
      ['AGENTS.md', true],
      ['packages/AGENTS.md', false],
    ])
    expect(files[0]!.content).toBe('é'.repeat((32 * 1024 - 1023 - 1) / 2))
  })

  it('takes off a byte order mark', async () => {
    await writeFile(join(root, 'AGENTS.md'), '\ufeffroot')
    expect((await readInstructions({ root, folder: root })).files[0]!.content).toBe('root')
  })
})
