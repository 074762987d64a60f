import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { choosePager, showInPager } from '../../commands/terminal/pager.ts'

describe('which pager', () => {
  it.each([
    [{}, null, 'less'],
    [{ PAGER: 'more' }, null, 'more'],
    [{ PAGER: 'more' }, 'most', 'most'],
    [{ PAGER: 'more', CASS_PAGER: 'bat -p' }, 'most', 'bat -p'],
    [{ PAGER: 'more' }, false, null],
    [{ CASS_PAGER: 'bat' }, false, 'bat'],
    [{ CASS_PAGER: '' }, 'most', null],
    [{ PAGER: 'cat' }, null, null],
  ] as const)('with %j and the setting %j: %s', (env, setting, expected) => {
    expect(choosePager({ env, setting })).toBe(expected)
  })
})

describe.skipIf(process.platform === 'win32')('showing text', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cass-pager-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const env = { PATH: process.env.PATH ?? '' }

  it('hands all of it to the pager and waits for its end', async () => {
    const text = 'line\n'.repeat(50_000)
    const file = join(folder, 'shown')
    expect(await showInPager(text, { pager: `cat > '${file}'`, env })).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('does not mind a pager that is left before the end', async () => {
    expect(await showInPager('line\n'.repeat(50_000), { pager: 'head -n 1 >/dev/null', env })).toBe(true)
  })

  it.each([
    ['fails', 'false', false],
    ['fails in words of its own', 'exit 3', false],
    ['is ended by a signal', 'kill -INT $$', true],
  ])('that %s: %s', async (_, pager, isShown) => {
    expect(await showInPager('text', { pager, env })).toBe(isShown)
    expect(await showInPager('line\n'.repeat(50_000), { pager, env })).toBe(isShown)
  })

  it('says that there is no such pager, so that the text can be printed', async () => {
    expect(await showInPager('text', { pager: 'no-such-pager-anywhere 2>/dev/null', env })).toBe(false)
  })
})
