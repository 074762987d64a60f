// Branching a conversation of 10,000 messages of 3 KB: what it costs beside starting the program.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeConversation } from './_conversation.mjs'
import { medians, program, report, withFolder } from './_measure.mjs'

await withFolder(async (folder) => {
  const home = join(folder, 'home')
  const cwd = join(folder, 'project')
  mkdirSync(cwd)
  writeConversation({ home, cwd, count: 10_000, size: 3000 })
  const lines = { start: [program, 'branches', '--help'], branch: [program, 'branch', '@~100'] }
  const measured = medians(lines, { runs: 7, cwd, env: { CASS_HOME: home } })
  report('starting the program', measured.start.ms, 'ms', null)
  report('cass branch, beside that', measured.branch.ms - measured.start.ms, 'ms', 150)
  report('cass branch, memory', measured.branch.rss, 'MB', null)
})
