// `npm run build`: the programs and the library in dist/, as split and minified ES modules.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages, repository } from './install.mjs'
import { formatNotices } from './notices.mjs'
import { runTool } from './runTool.mjs'

const dist = join(repository, 'dist')
const inputs = ['sources', 'commands', 'docs', 'fixtures/sample-project', 'scripts', 'package.json']

/** Builds when something that dist/ is made from is newer than dist/. */
export async function buildWhenStale() {
  const stamp = join(dist, 'meta.json')
  const built = existsSync(stamp) ? statSync(stamp).mtimeMs : 0
  if (inputs.some((input) => newestChange(join(repository, input)) > built)) await build()
}

/** Builds into a folder of its own and swaps it in at the end, so that a failed build leaves the old one alone. */
export async function build() {
  installPackages()
  const { generate } = await import('./generate.mjs')
  await generate({ write: true })
  const folder = mkdtempSync(join(repository, '.dist-'))
  try {
    const metafile = await bundle(folder)
    emitTypes(folder)
    copyFolders(folder)
    writeFileSync(join(folder, 'THIRD-PARTY.txt'), formatNotices({ repository, metafile }))
    writeFileSync(join(folder, 'meta.json'), JSON.stringify(metafile))
    // Temporary folders are private; a program is for all users.
    chmodSync(folder, 0o755)
    rmSync(dist, { recursive: true, force: true })
    renameSync(folder, dist)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function bundle(folder) {
  const esbuild = await import('esbuild')
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const { metafile } = await esbuild.build({
    absWorkingDir: repository,
    entryPoints: { cass: 'commands/cass.ts', index: 'sources/index.ts' },
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.18',
    legalComments: 'none',
    chunkNames: '[name]-[hash]',
    // Both find files of their own (a native add-on, a program) from where they are installed.
    external: ['fs-native-extensions', '@vscode/ripgrep'],
    // CommonJS packages inside the bundle still call require for built-in modules.
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    define: { CASS_VERSION: JSON.stringify(version) },
    metafile: true,
    logLevel: 'warning',
  })
  chmodSync(join(folder, 'cass.js'), 0o755)
  return withoutFolder(metafile, folder)
}

// The bundle is made in a temporary folder; the metafile should speak of dist/.
function withoutFolder(metafile, folder) {
  const prefix = `${folder.slice(repository.length).replaceAll('\\', '/').replace(/^\//, '')}/`
  return JSON.parse(JSON.stringify(metafile).replaceAll(prefix, 'dist/'))
}

function emitTypes(folder) {
  const status = runTool('tsc', [
    ...[
      '-p',
      'sources',
      '--composite',
      'false',
      '--incremental',
      'false',
      '--emitDeclarationOnly',
      '--declaration',
    ],
    ...['--outDir', join(folder, 'types')],
  ])
  if (status !== 0) throw new Error('the types of the library do not compile')
}

function copyFolders(folder) {
  const folders = { docs: 'docs', 'fixtures/sample-project': 'sample-project' }
  for (const [from, to] of Object.entries(folders)) {
    if (existsSync(join(repository, from)))
      cpSync(join(repository, from), join(folder, to), { recursive: true })
  }
}

function newestChange(path) {
  if (!existsSync(path)) return 0
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  // A folder's own time counts too: it changes when a file in it is removed.
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newestChange(join(path, name))))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
