// Saving one message: the same cost behind 10 messages and behind 100,000, and nothing for a save with nothing new.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { writeConversation } from './_conversation.mjs'
import { median, report, repository, withFolder } from './_measure.mjs'

const sources = JSON.stringify(join(repository, 'sources')).slice(1, -1)
const entryText = `
import { randomBytes } from 'node:crypto'
import { Conversation } from '${sources}/conversation/conversation.ts'
import { makeMessageId } from '${sources}/conversation/ids.ts'
import { saveConversation } from '${sources}/conversation/save.ts'
import { WriterLock } from '${sources}/conversation/writers.ts'

export async function saver(home, chat) {
  const conversation = Conversation.open(home, chat)
  const writer = await WriterLock.take(home, { hostname: 'bench', pid: process.pid, random8: randomBytes(8), now: new Date() })
  return (count) => {
    const at = new Date().toISOString()
    const id = makeMessageId(Date.now(), randomBytes(10))
    const message = { role: 'assistant', content: 'an answer', ts: at }
    return saveConversation(conversation, {
      writer,
      now: () => new Date(),
      plan: (graph) => {
        if (count === 0 || graph.nodes.has(id)) return []
        const parent = graph.heads.get('main').leaf
        return [{ type: 'message', id, head: 'main', writer: writer.id, turn: null, at, parent, digest: null, fs: 0, ws: null, msgs: [message] }]
      },
    })
  }
}
`

await withFolder(async (folder) => {
  const { saver } = await bundle(folder)
  const measured = {}
  for (const count of [10, 100_000]) {
    const home = join(folder, `home-${count}`)
    const { chat } = writeConversation({ home, cwd: folder, count, size: 200 })
    const save = await saver(home, chat)
    for (let warm = 0; warm < 20; warm++) await save(1)
    const appended = []
    const idle = []
    for (let run = 0; run < 200; run++) {
      appended.push(await timed(() => save(1)))
      idle.push(await timed(() => save(0)))
    }
    measured[count] = { appended: median(appended), idle: median(idle) }
  }
  report('an append behind 10 messages', measured[10].appended, 'ms', null)
  report('an append behind 100,000 messages', measured[100_000].appended, 'ms', null)
  report('the one as a ratio to the other', measured[100_000].appended / measured[10].appended, 'x', 1.5)
  report('a save with nothing new, behind 100,000', measured[100_000].idle, 'ms', null)
})

async function timed(work) {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** The saving part of the library, which is not public, as a module of its own. */
async function bundle(folder) {
  mkdirSync(join(folder, 'bundle'))
  const entry = join(folder, 'bundle', 'entry.ts')
  writeFileSync(entry, entryText)
  const outfile = join(repository, 'node_modules', `.cass-bench-${process.pid}.mjs`)
  const banner =
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
  await build({
    ...{ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
    ...{
      banner: { js: banner },
      external: ['fs-native-extensions'],
      nodePaths: [join(repository, 'node_modules')],
    },
  })
  try {
    return await import(outfile)
  } finally {
    const { rmSync } = await import('node:fs')
    rmSync(outfile, { force: true })
  }
}
