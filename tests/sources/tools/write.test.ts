import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { write } from '../../../sources/tools/write.ts'
import { makeContext, makePlace, type Place } from './_context.ts'

async function put(
  place: Place,
  name: string,
  content: string,
  mode: 'workspace-edit' | 'full-access' = 'workspace-edit',
) {
  return await write.run({ path: name, content }, makeContext(place, { mode }))
}

describe('write', () => {
  it('creates a file with its folders, byte for byte, and counts what it added', async () => {
    const place = makePlace()
    const file = path.join(place.workspace, 'a/b/c.txt')
    expect(await put(place, 'a/b/c.txt', 'é\r\nx')).toEqual({
      ok: true,
      content: `wrote 5 bytes to ${file}`,
      changes: [{ path: file, added: 2, removed: 0 }],
    })
    expect(readFileSync(file)).toEqual(Buffer.from('é\r\nx'))
  })

  it('replaces a file, keeps its mode, and counts both sides', async () => {
    const place = makePlace()
    const file = path.join(place.workspace, 'run.sh')
    writeFileSync(file, 'a\nb\nc\n')
    chmodSync(file, 0o755)
    const outcome = await put(place, 'run.sh', 'a\nB\nc\nd\n')
    expect(outcome.changes).toEqual([{ path: file, added: 2, removed: 1 }])
    expect(statSync(file).mode & 0o777).toBe(0o755)
    expect(await put(place, 'run.sh', 'a\nB\nc\nd\n')).toMatchObject({ ok: true, changes: [] })
    expect(place.published).toEqual([file])
  })

  it('refuses what it may not write, and names the place as it really is', async () => {
    const place = makePlace()
    mkdirSync(path.join(place.workspace, '.git'))
    mkdirSync(path.join(place.workspace, 'dir'))
    writeFileSync(path.join(place.workspace, 'file'), '')
    symlinkSync('.git', path.join(place.workspace, 'hidden'))
    symlinkSync(place.docs, path.join(place.workspace, 'manual'))
    symlinkSync(place.cassHome, path.join(place.workspace, 'config'))
    symlinkSync(place.home, path.join(place.workspace, 'out'))
    symlinkSync('loop', path.join(place.workspace, 'loop'))
    symlinkSync('/nowhere/at/all', path.join(place.workspace, 'dangling'))
    symlinkSync(place.workspace, path.join(place.docs, 'back'))
    const everywhere: [string, string][] = [
      ['.git/hooks/pre-commit', "git's own files"],
      ['.GIT/config', "git's own files"],
      ['sub/.git', "git's own files"],
      ['hidden/config', "git's own files"],
      ['manual/x.md', 'writes are blocked under read-only docs directory'],
      [`${place.docs}/back/x`, 'writes are blocked under read-only docs directory'],
      ['config/config.json', 'the folder of cass itself'],
      [`${place.cassHome}/chat`, 'the folder of cass itself'],
      ['~/.cass/config.json', 'the folder of cass itself'],
      ['loop', 'its links lead in a circle'],
      ['dangling', 'is a link to something that does not exist'],
      ['dangling/x', 'is a link to something that does not exist'],
      ['file/x', 'is a file, not a folder'],
      ['dir', 'not a file'],
      ['dir/', 'names a folder'],
      ['', 'the path is empty'],
      ['a\0', 'NUL'],
    ]
    for (const mode of ['workspace-edit', 'full-access'] as const) {
      for (const [name, message] of everywhere) {
        const { ok, content } = await put(place, name, 'x', mode)
        expect({ mode, name, ok, content }).toEqual({
          mode,
          name,
          ok: false,
          content: expect.stringContaining(message),
        })
      }
    }
    for (const name of ['out/x', '../x', `${place.home}/x`, '~/x']) {
      expect((await put(place, name, 'x')).content).toContain('escapes workspace-edit root')
    }
    expect(place.published).toEqual([])
    expect((await put(place, '~/x', 'x', 'full-access')).ok).toBe(true)
    const readOnly = makeContext(place, { mode: 'read-only' })
    expect((await write.run({ path: 'x', content: '' }, readOnly)).content).toBe(
      'write access is unavailable in read-only mode',
    )
  })

  it('says which argument is missing', async () => {
    const place = makePlace()
    const context = makeContext(place, { mode: 'workspace-edit' })
    expect((await write.run({}, context)).content).toContain('missing field `path`; missing field `content`')
    expect((await write.run({ path: 'a', content: { a: 1 } }, context)).content).toContain('field `content`')
  })
})
