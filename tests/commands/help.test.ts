import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { manifest } from '../../commands/manifest.ts'
import { makeSandbox, type Sandbox } from '../_cass.ts'

let sandbox: Sandbox

beforeAll(() => {
  sandbox = makeSandbox()
})

afterAll(() => sandbox.remove())

const page = readFileSync(fileURLToPath(new URL('../../docs/commands.md', import.meta.url)), 'utf8')

/** What the page says of one command: its usage line, and each option with its explanation. */
function readSection(name: string) {
  const section = page.split(`\n## cass ${name}\n`)[1]?.split('\n## ')[0] ?? ''
  const usage = /```\n(.*)\n```/.exec(section)?.[1] ?? ''
  const options = [...section.matchAll(/^- `(-[^`]+)`: (.*)$/gm)].map(([, option = '', what = '']) => ({
    option,
    what,
  }))
  return { usage, options }
}

test('the page of commands names options and arguments', () => {
  expect(readSection('switch').usage).toBe('cass switch <BRANCH>')
  expect(readSection('branch').options.map(({ option }) => option)).toContain('--name NAME')
})

test.each(Object.keys(manifest))(
  'the built program explains %s as the page of commands does',
  async (name) => {
    const { exitCode, stdout, stderr } = await sandbox.run([name, '--help'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const { usage, options } = readSection(name)
    expect(stdout).toContain(`\n$ ${usage}\n`)
    const lines = stdout.split('\n').filter((line) => /^ {2}-/.test(line))
    expect(lines.map((line) => line.trim().replace(/ {2,}/, ': '))).toEqual(
      options.map(({ option, what }) => `${option}: ${what}`),
    )
    const columns = new Set(lines.map((line) => line.replace(/^( {2}-.*? {2,}).*$/, '$1').length))
    expect(columns.size, 'the explanations of options stand in one column').toBeLessThan(2)
  },
)

test.each(Object.keys(manifest))('every way to ask for the help of %s gives the same text', async (name) => {
  const asked = [
    [name, '--help'],
    [name, '-h'],
    ['--help', name],
    ['help', name],
  ]
  const texts = await Promise.all(asked.map(async (words) => (await sandbox.run(words)).stdout))
  expect(new Set(texts).size).toBe(1)
})
