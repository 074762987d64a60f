import { afterAll, beforeAll, expect, test } from 'vitest'
import { manifest } from '../../commands/manifest.ts'
import { makeSandbox, type Sandbox } from '../_cass.ts'

let sandbox: Sandbox

beforeAll(() => {
  sandbox = makeSandbox()
})

afterAll(() => sandbox.remove())

test.each(Object.keys(manifest))('the built program explains %s', async (name) => {
  const { exitCode, stdout, stderr } = await sandbox.run([name, '--help'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toContain(`$ cass ${name}`)
  const options = stdout.split('\n').filter((line) => /^ {2}-/.test(line))
  const columns = new Set(options.map((line) => line.replace(/^( {2}-.*? {2,}).*$/, '$1').length))
  expect(columns.size, 'the explanations of options stand in one column').toBeLessThan(2)
})
