// One headless turn against the scripted server on this machine, the whole process counted.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProvider } from '../../fixtures/provider/server.mjs'
import { median, program, report, withFolder } from './_measure.mjs'

await withFolder(async (folder) => {
  const home = join(folder, 'home')
  const cwd = join(folder, 'project')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'a.txt'), 'one\n')
  const server = await startProvider({ script: { fallback: { text: 'Done.' } } })
  try {
    const args = [program, 'run', '--base-url', server.url, '--model', 'bench', 'say done']
    const node = []
    const turns = []
    for (let run = 0; run < 15; run++) {
      node.push(await runChild(['-e', '0'], { cwd, home }))
      turns.push(await runChild(args, { cwd, home }))
    }
    report('node -e 0', median(node.map(({ ms }) => ms)), 'ms', null)
    report('cass run, one turn', median(turns.map(({ ms }) => ms)), 'ms', 120)
    report('cass run, memory', median(turns.map(({ rss }) => rss)), 'MB', 90)
  } finally {
    await server.close()
  }
})

/** Not spawned synchronously: the server lives in this process. */
function runChild(args, { cwd, home }) {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const probe = "process.on('exit', () => process.stderr.write('maxrss=' + process.resourceUsage().maxRSS))"
    const child = spawn(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(probe)}`, ...args],
      {
        cwd,
        env: { ...process.env, CASS_HOME: home },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    let text = ''
    child.stderr.on('data', (chunk) => {
      text += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code !== 0) reject(new Error(`node ${args.join(' ')} ended with ${code}: ${text}`))
      else resolve({ ms: performance.now() - started, rss: Number(/maxrss=(\d+)/.exec(text)?.[1]) / 1024 })
    })
  })
}
