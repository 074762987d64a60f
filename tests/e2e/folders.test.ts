import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from './_world.ts'

test('an empty list says where in the workspace the chats are', async ({ world }) => {
  world.provider.setScript(['Hello.'])
  await world.ok(['run', 'hello'])
  const cwd = join(world.workspace, 'lib')
  mkdirSync(cwd)
  for (const command of ['branches', 'chats']) {
    const { exitCode, stdout, stderr } = await world.run([command], { cwd })
    expect({ command, exitCode, stdout }).toEqual({ command, exitCode: 0, stdout: '' })
    expect(stderr).toContain('other folders of this workspace have 1 chat: `cass chats --all`')
    expect((await world.run([command])).stderr).not.toContain('other folders')
  }
  expect((await world.run(['chats', '--all'], { cwd })).stdout).toContain('hello')
})
