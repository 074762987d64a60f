// Keeps the code that V8 makes of a CommonJS file, for commands/codeCache.ts to start from.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

/** Makes the imports of modules beside a file calls of a function: V8 forgets, with cached code, how to import. */
export function passImports(file) {
  const text = readFileSync(file, 'utf8').replaceAll('import("./', '__import("./')
  if (/\bimport\(/.test(text)) throw new Error(`'${file}' imports what is not beside it`)
  writeFileSync(file, text)
}

/** Writes `NAME.cache` beside `NAME.cjs`, which exports a program. In a process of its own, since it loads the file. */
export function writeCodeCache(file) {
  const self = fileURLToPath(import.meta.url)
  const { status } = spawnSync(process.execPath, [self, file], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`no code cache was made of '${file}'`)
}

async function make(file) {
  // The very text of `wrap` in commands/codeCache.ts: a cache of another one is refused.
  const wrapped = `(function (exports, require, module, __filename, __dirname, __import) { ${readFileSync(file, 'utf8')}\n});`
  const script = new Script(wrapped, { filename: file })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file), () => {
    throw new Error('the cache is made without imports')
  })
  // What has run is compiled, and what is compiled goes into the cache.
  for (const argv of [['branches'], ['branches', '--json'], ['resolve', '@'], ['fsck']])
    await runOnce(module.exports.run, argv)
  writeFileSync(file.replace(/\.cjs$/, '.cache'), script.createCachedData())
}

async function runOnce(run, argv) {
  const folder = mkdtempSync(join(tmpdir(), 'cass-build-'))
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  try {
    await run(argv, {
      env: { CASS_HOME: join(folder, 'home') },
      cwd: folder,
      home: folder,
      openStdin: () => process.stdin,
      stdout: nowhere,
      stderr: nowhere,
      terminals: { stdin: false, stdout: false, stderr: false },
      columns: 80,
      hasInput: false,
      now: () => new Date(),
      randomBytes: (length) => Buffer.alloc(length),
      pid: process.pid,
      programFolder: folder,
      interrupts: { listen: () => () => {} },
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await make(process.argv[2])
