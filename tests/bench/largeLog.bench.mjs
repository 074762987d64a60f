// Reading a conversation of 75,000 messages and 250 MB, the whole process counted.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeConversation } from './_conversation.mjs'
import { medians, program, report, withFolder } from './_measure.mjs'

await withFolder(async (folder) => {
  const home = join(folder, 'home')
  const cwd = join(folder, 'project')
  mkdirSync(cwd)
  const { bytes } = writeConversation({ home, cwd, count: 75_000, size: 2750 })
  report('size of the log', bytes / 1e6, 'MB', null)
  const lines = {
    node: ['-e', '0'],
    branches: [program, 'branches'],
    'log -n 20': [program, 'log', '-n', '20'],
    checkpoints: [program, 'checkpoints'],
  }
  const measured = medians(lines, { runs: 5, cwd, env: { CASS_HOME: home } })
  report('node -e 0', measured.node.ms, 'ms', null)
  for (const [name, limit] of [
    ['branches', 500],
    ['log -n 20', 500],
    ['checkpoints', 1000],
  ]) {
    report(`cass ${name}`, measured[name].ms, 'ms', limit)
    report(`cass ${name}, memory`, measured[name].rss, 'MB', 300)
  }
})
