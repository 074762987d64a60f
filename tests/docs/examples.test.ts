import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { program } from '../_cass.ts'
import { examplesOf, isShown, normalise, runInShell } from './_console.ts'
import { blocksOf, readPage, readPages, repository } from './_pages.ts'
import { makeWorld } from './_world.ts'

const pages = readPages().map((page) => ({ page, blocks: blocksOf(page) }))
const isWindows = process.platform === 'win32'

describe.skipIf(isWindows)('the commands in console blocks give the output that the pages show', () => {
  const withExamples = pages.flatMap(({ page, blocks }) => {
    const examples = blocks.filter(({ language }) => language === 'console').flatMap(examplesOf)
    return examples.length === 0 ? [] : [{ path: page.path, blocks, examples }]
  })

  test('README.md and several pages have examples', () => {
    expect(withExamples.map(({ path }) => path)).toContain('README.md')
    expect(withExamples.length).toBeGreaterThan(3)
  })

  test.each(withExamples)('$path', { timeout: 120_000 }, async ({ path, blocks, examples }) => {
    expect(existsSync(program), 'the program is built').toBe(true)
    const world = await makeWorld(blocks)
    try {
      const commands = examples.map(({ command }) => world.adapt(command))
      const outputs = await runInShell(commands, world)
      for (const [index, { command, shown, line }] of examples.entries()) {
        const output = normalise(outputs[index] ?? 'the shell ended before this command\n', world.places)
        const expected = shown.map((each) => normalise(each, world.places))
        // Compared as text only to show the difference; `...` and `…` are understood by `isShown` alone.
        if (!isShown(expected, output))
          expect(output, `${path}:${line}: $ ${command}`).toBe(`${expected.join('\n')}\n`)
      }
    } finally {
      await world.close()
    }
  })
})

test('README.md names the program where the package has it', () => {
  const { bin } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  expect(program).toBe(join(repository, bin.cass))
  expect(readPage('README.md').text).toContain(`\`node ${bin.cass}\``)
})

describe.skipIf(isWindows)('the sh blocks are shell scripts', () => {
  const blocks = pages.flatMap(({ page, blocks }) =>
    blocks
      .filter(({ language }) => language === 'sh')
      .map((block) => ({ place: `${page.path}:${block.line}`, text: block.text })),
  )

  test.each(blocks)('$place', ({ text }) => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test('name only commands that exist', async () => {
    const { manifest } = await import('../../commands/manifest.ts')
    const used = pages.flatMap(({ page, blocks }) =>
      blocks
        .filter(({ language }) => language === 'sh' || language === 'console')
        .flatMap(({ text }) => [...text.matchAll(/(?:^|[\s("|&])cass ([a-z]+)/gm)])
        .map(([, name]) => `${page.path}: cass ${name}`),
    )
    expect(used.length).toBeGreaterThan(20)
    // 'setup' is shown as what is not there yet.
    const known = new Set([...Object.keys(manifest), 'help', 'setup'])
    expect(used.filter((each) => !known.has(each.split(' ').at(-1)!))).toEqual([])
  })
})
