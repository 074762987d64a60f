import { describe, expect, it } from 'vitest'
import { createBranch } from '../../sources/session/createBranch.ts'
import { user } from '../sources/conversation/_messages.ts'
import { makePlace, seedChat } from '../sources/session/_session.ts'
import { runHere } from './_run.ts'

const controls = '\u0085next \u009b31mred \u007fdel \u0090dcs'

describe('--json', () => {
  it.each([
    ['a message', ['log']],
    ['a label', ['checkpoints']],
    ['the label that a branch came from', ['branches']],
    ['a preview', ['chats']],
    ['an error', ['resolve', `nobody${controls}`]],
    ['an error of the command line', [`--${controls}`]],
  ])('escapes what terminals obey in %s', async (_, argv) => {
    const place = makePlace()
    const { chat_id } = await seedChat(place, { messages: [user(`hello ${controls}`)] })
    await createBranch(place, { checkpoint: `${chat_id}:2:user`, name: 'try', switchTo: false })
    const { root, cwd, home, pid } = place
    const { stdout } = await runHere(['--json', ...argv], {
      ...{ env: { CASS_HOME: root }, cwd, home, pid },
      terminals: { stdin: true, stdout: true, stderr: true },
    })
    expect(stdout).toContain('u009b31mred')
    expect(JSON.stringify(JSON.parse(stdout))).toContain('\u009b31mred')
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })
})
