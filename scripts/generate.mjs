// Writes what is generated from the command classes: the text of `cass --help` and docs/commands.md.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installPackages, repository } from './install.mjs'

/** Gives the paths that are out of date; writes them when asked to. */
export async function generate({ write }) {
  const texts = await makeTexts()
  const stale = Object.keys(texts).filter((path) => readText(join(repository, path)) !== texts[path])
  if (write) for (const path of stale) writeFileSync(join(repository, path), texts[path])
  return stale
}

/** The command classes are TypeScript, which Node 20 does not run: bundle them for a moment. */
async function makeTexts() {
  const esbuild = await import('esbuild')
  const folder = join(repository, 'node_modules', '.cache', 'cassady', String(process.pid))
  const outfile = join(folder, 'reference.mjs')
  mkdirSync(folder, { recursive: true })
  try {
    await esbuild.build({
      absWorkingDir: repository,
      entryPoints: ['commands/reference.ts'],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'warning',
    })
    const { makeReference } = await import(pathToFileURL(outfile).href)
    return await makeReference()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // Not generated yet: the same as out of date.
    if (error.code === 'ENOENT') return null
    throw error
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installPackages()
  const stale = await generate({ write: !process.argv.includes('--check') })
  if (process.argv.includes('--check') && stale.length > 0) {
    process.stderr.write(`out of date: ${stale.join(', ')} (run \`npm run build\` and commit them)\n`)
    process.exitCode = 1
  }
}
