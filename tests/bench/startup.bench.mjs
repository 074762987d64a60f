// How long a plumbing command takes to start, as a ratio to `node -e 0` in the same run.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeConversation } from './_conversation.mjs'
import { medians, program, report, withFolder } from './_measure.mjs'

await withFolder(async (folder) => {
  const home = join(folder, 'home')
  const cwd = join(folder, 'project')
  mkdirSync(cwd)
  writeConversation({ home, cwd, count: 20, size: 200 })
  const lines = {
    node: ['-e', '0'],
    '--version': [program, '--version'],
    '--help': [program, '--help'],
    branches: [program, 'branches'],
    checkpoints: [program, 'checkpoints'],
    resolve: [program, 'resolve', '@~1'],
    log: [program, 'log', '-n', '5'],
  }
  const measured = medians(lines, { runs: 15, cwd, env: { CASS_HOME: home } })
  for (const [name, { ms, rss }] of Object.entries(measured)) {
    if (name === 'node') report('node -e 0', ms, 'ms', null)
    else report(`cass ${name}, ratio to node -e 0`, ms / measured.node.ms, 'x', name === 'log' ? null : 1.5)
    if (name === 'branches') report('cass branches, memory', rss, 'MB', null)
  }
})
