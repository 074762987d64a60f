import { expect, it } from 'vitest'
import { user } from '../sources/conversation/_messages.ts'
import { makePlace, seedChat } from '../sources/session/_session.ts'
import { runHere } from './_run.ts'

it('says on a terminal what a main branch is about, and in a pipe nothing but where it was branched off', async () => {
  const place = makePlace()
  const { chat_id } = await seedChat(place, { messages: [user('mend the discount')] })
  const { root, cwd, home, pid } = place
  const here = { env: { CASS_HOME: root }, cwd, home, pid }
  const terminals = { stdin: true, stdout: true, stderr: true }
  const shown = await runHere(['branches'], { ...here, terminals })
  expect(shown.stdout).toMatch(new RegExp(`^\\* +${chat_id} .* mend the discount\\n$`))
  expect((await runHere(['branches'], here)).stdout).toMatch(new RegExp(`^\\*\t${chat_id}\t.*Z\t\n$`))
  const raw = await runHere(['branches', '-z'], { ...here, terminals })
  expect(raw.stdout).not.toContain('mend')
})
