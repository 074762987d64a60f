// `npm run build`: the program and the library in dist/, minified; heavy packages in ES modules of their own.
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
import { passImports, writeCodeCache } from './codeCache.mjs'
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

/**
 * Two bundles. The program is one CommonJS file, `main.cjs`, beside the bin stub `cass.cjs`: that starts in half the time of a
 * set of ES modules, and of a command nothing runs before it is called. The library, and the heavy packages that only some
 * commands load, are split ES modules. `meta.json` has the outputs of both.
 */
async function bundle(folder) {
  const esbuild = await import('esbuild')
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const shared = {
    absWorkingDir: repository,
    outdir: folder,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20.18',
    legalComments: 'none',
    // Both find files of their own (a native add-on, a program) from where they are installed.
    external: ['fs-native-extensions', '@vscode/ripgrep'],
    // Packages that name their entry without an extension have ES modules beside the others.
    resolveExtensions: ['.ts', '.mjs', '.js', '.json'],
    metafile: true,
    logLevel: 'warning',
  }
  const modules = await esbuild.build({
    ...shared,
    entryPoints: {
      index: 'sources/index.ts',
      ...Object.fromEntries([...laterPackages].map(([path, name]) => [name, path])),
    },
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
    // CommonJS packages inside the bundle still call require for built-in modules.
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  })
  const programs = await esbuild.build({
    ...shared,
    entryPoints: { cass: 'commands/cass.ts', main: 'commands/main.ts' },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    define: { CASS_VERSION: JSON.stringify(version), 'import.meta.dirname': '__dirname' },
    plugins: [oneClipanion, leaveToModules],
  })
  chmodSync(join(folder, 'cass.cjs'), 0o755)
  passImports(join(folder, 'main.cjs'))
  writeCodeCache(join(folder, 'main.cjs'))
  const metafile = {
    inputs: { ...modules.metafile.inputs, ...programs.metafile.inputs },
    outputs: { ...modules.metafile.outputs, ...programs.metafile.outputs },
  }
  return withoutFolder(metafile, folder)
}

/** The heavy packages, which only some commands load and only when they need them, and the modules that hold them. */
const laterPackages = new Map([
  ['chalk', 'package-chalk'],
  ['diff', 'package-diff'],
  ['enquirer', 'package-enquirer'],
  ['ignore', 'package-ignore'],
  ['openai', 'package-openai'],
  ['undici', 'package-undici'],
  ['undici/lib/dispatcher/agent.js', 'package-undici-agent'],
])

/** What the program loads on demand comes from the modules beside it, or from where the package is installed. */
const leaveToModules = {
  name: 'leave-to-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z]/ }, ({ path }) => {
      const name = laterPackages.get(path)
      return name === undefined ? undefined : { path: `./${name}.js`, external: true }
    })
    // Ripgrep finds its program from where it is installed.
    // By require, which spares the command that takes a lock the start of the whole ES module loader. The `require` that
    // this makes is asked about again, and stays.
    onResolve({ filter: /^(@vscode\/ripgrep|fs-native-extensions)$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, namespace: 'required' } : { path, external: true },
    )
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
      resolveDir: repository,
    }))
  },
}

/** One copy of clipanion: its ES modules, of which unused parts fall away, also for the one module named by its path. */
const oneClipanion = {
  name: 'one-clipanion',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^clipanion\/lib\/core\.js$/ }, ({ resolveDir, kind }) =>
      resolve('clipanion/lib/core.mjs', { resolveDir, kind }),
    )
  },
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
