/** A source file, by its path from the top of the repository. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Which folders of `sources/` each may import from; every one may import from itself and from the leaves. */
const allowedFolders: Readonly<Record<string, ReadonlyArray<string>>> = {
  files: [],
  conversation: [],
  config: [],
  workspace: [],
  update: [],
  edits: ['conversation', 'workspace'],
  tools: ['workspace', 'edits'],
  agent: ['tools', 'conversation', 'config'],
  session: ['agent', 'config', 'conversation', 'edits', 'tools', 'update', 'workspace'],
}
const leaves = ['errors.ts', 'files']

/** Packages of one side only. What stands nowhere here may be used on both. */
const packageSides: Readonly<Record<string, 'sources' | 'commands'>> = {
  ...{ clipanion: 'commands', chalk: 'commands', enquirer: 'commands' },
  ...{ openai: 'sources', undici: 'sources', diff: 'sources', tar: 'sources', 'adm-zip': 'sources' },
  ...{ '@vscode/ripgrep': 'sources', ignore: 'sources', 'fs-native-extensions': 'sources' },
  ...{ tokenx: 'sources' },
}

/** What a pure module may use of Node: paths, bytes, and a hash, which is a function of its input. */
const pureModules: Readonly<Record<string, ReadonlyArray<string> | 'all'>> = {
  'node:path': 'all',
  'node:buffer': 'all',
  'node:crypto': ['createHash'],
}

/** What no module of `sources/` may do: such values are passed in, and printing and ending belong to `commands/`. */
const forbidden: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bconsole\./, 'prints'],
  [/\bprocess\.(exit|exitCode|argv|env|cwd|stdin|stdout|stderr)\b/, 'uses the process'],
  [/\bDate\.now\(|\bnew Date\(\)/, 'reads the clock'],
  [/\bMath\.random\(/, 'uses chance'],
]

/**
 * Every sentence names a file and what it may not do. `effectful` are the modules of `sources/` that touch files,
 * processes or the network; all others have to be pure. Throws when there is nothing to check.
 */
export function findViolations(files: ReadonlyArray<SourceFile>, effectful: ReadonlyArray<string>): string[] {
  if (
    !files.some(({ path }) => path.startsWith('sources/')) ||
    !files.some(({ path }) => path.startsWith('commands/'))
  ) {
    throw new Error('there is nothing to check')
  }
  const missing = effectful.filter((path) => !files.some((file) => file.path === path))
  return [
    ...missing.map((path) => `${path} is listed as effectful and does not exist`),
    ...files.flatMap((file) => checkFile(file, effectful)),
  ]
}

function checkFile(file: SourceFile, effectful: ReadonlyArray<string>): string[] {
  const { path, text } = file
  const imports = readImports(text)
  const found = imports.flatMap((each) => checkImport(path, each, effectful))
  if (!path.startsWith('sources/')) return found
  const code = stripComments(text)
  if (/^sources\/[^/]+\/.*\bindex\.ts$/.test(path)) found.push(`${path} is a barrel`)
  for (const [pattern, what] of forbidden) if (pattern.test(code)) found.push(`${path} ${what}`)
  return found
}

interface Import {
  readonly from: string
  /** The names, or null when all of the module is taken. */
  readonly names: ReadonlyArray<string> | null
  readonly isType: boolean
}

function readImports(text: string): Import[] {
  const code = stripComments(text)
  const statements = [...code.matchAll(/^(?:import|export)\s(?:([^'"`]*?)\sfrom\s)?['"]([^'"]+)['"]/gm)]
  const dynamic = [...code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)]
  return [
    ...statements.map(([, clause = '', from = '']) => ({
      from,
      names: readNames(clause),
      isType: clause.trim().startsWith('type '),
    })),
    ...dynamic.map(([, from = '']) => ({ from, names: null, isType: false })),
  ]
}

function readNames(clause: string): string[] | null {
  const names = /^\s*(?:type\s+)?\{([^}]*)\}\s*$/.exec(clause)?.[1]
  return names === undefined
    ? null
    : names
        .split(',')
        .map((name) => name.trim().replace(/^type | as .*$/g, ''))
        .filter(Boolean)
}

function checkImport(
  path: string,
  { from, names, isType }: Import,
  effectful: ReadonlyArray<string>,
): string[] {
  if (from.startsWith('.')) return checkOwnImport(path, resolvePath(path, from), { isType, effectful })
  const [side = ''] = path.split('/')
  if (from.startsWith('node:')) {
    const allowed = pureModules[from]
    const isPureUse =
      allowed === 'all' || (allowed !== undefined && names?.every((name) => allowed.includes(name)))
    if (side !== 'sources' || isType || isPureUse || effectful.includes(path)) return []
    return [`${path} uses '${from}' and is not listed as effectful`]
  }
  const name = from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')
  const owner = packageSides[name]
  return owner === undefined || owner === side
    ? []
    : [`${path} imports '${name}', which belongs to ${owner}/`]
}

function checkOwnImport(
  path: string,
  target: string,
  { isType, effectful }: { readonly isType: boolean; readonly effectful: ReadonlyArray<string> },
): string[] {
  const [side = '', folder = ''] = path.split('/')
  const [targetSide = '', targetFolder = ''] = target.split('/')
  const violation = [`${path} imports ${target}`]
  if (side === 'commands') {
    const isBelow = targetSide === 'sources' && targetFolder !== 'session' && targetFolder !== 'errors.ts'
    if (targetSide !== 'commands' && targetSide !== 'sources') return violation
    return isBelow && !isType && effectful.includes(target) ? violation : []
  }
  if (targetSide !== 'sources') return violation
  if (path === 'sources/index.ts' || leaves.includes(targetFolder) || folder === targetFolder) return []
  const allowed = isType ? reachableFolders(folder) : (allowedFolders[folder] ?? [])
  return allowed.includes(targetFolder) ? [] : violation
}

// A type may come from further down: it is part of what the folder between speaks of.
function reachableFolders(folder: string): string[] {
  return (allowedFolders[folder] ?? []).flatMap((below) => [below, ...reachableFolders(below)])
}

function resolvePath(path: string, from: string): string {
  const parts = path.split('/').slice(0, -1)
  for (const part of from.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}

function stripComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}
