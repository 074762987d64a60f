import { lstat, readFile } from 'node:fs/promises'
import path from 'node:path'
import { errnoOf } from '../errors.ts'

interface Matcher {
  test(relative: string): { readonly ignored: boolean; readonly unignored: boolean }
}

/** The ignore files of one folder. Rules of `ignore` files of a kind are asked before those of the next. */
interface FolderRules {
  readonly folder: string
  readonly rules: ReadonlyArray<Matcher | null>
  readonly hasGit: boolean
  readonly parent: FolderRules | null
}

const kinds = ['.rgignore', '.ignore', '.gitignore', path.join('.git', 'info', 'exclude')]
// The kinds from here on are git's, and those of an outer repository do not reach into an inner one.
const firstGitKind = 2

/** Which paths ripgrep would leave out, for searching without it. One object for one search. */
export class IgnoreRules {
  private readonly make: (text: string) => Matcher
  private readonly global: Matcher | null

  private constructor(make: (text: string) => Matcher, global: string | null) {
    this.make = make
    this.global = global === null ? null : make(global)
  }

  /** `globalRules`: the text of the user's own ignore file; null when there is none. */
  static async load(globalRules: string | null): Promise<IgnoreRules> {
    const { default: ignore } = await import('ignore')
    return new IgnoreRules((text) => ignore({ ignorecase: false }).add(text), globalRules)
  }

  /** The rules of a folder that is searched, and of all folders above it. */
  async ofSearched(folder: string): Promise<FolderRules> {
    return await this.above(folder, folder)
  }

  /** The rules of a folder when those above it are known. */
  async inside(folder: string, parent: FolderRules | null): Promise<FolderRules> {
    return await this.readRules(folder, parent, '')
  }

  private async above(folder: string, searched: string): Promise<FolderRules> {
    const parent = path.dirname(folder)
    const rules = parent === folder ? null : await this.above(parent, searched)
    return await this.readRules(folder, rules, keepSearched(path.relative(folder, searched)))
  }

  private async readRules(folder: string, parent: FolderRules | null, more: string): Promise<FolderRules> {
    const texts = await Promise.all(kinds.map((kind) => readOptional(path.join(folder, kind))))
    const rules = texts.map((text) => (text === null ? null : this.make(text + more)))
    const hasGit = await exists(path.join(folder, '.git'))
    return { folder, rules, hasGit, parent }
  }

  isIgnored(full: string, isFolder: boolean, from: FolderRules): boolean {
    for (const kind of kinds.keys()) {
      for (let at: FolderRules | null = from; at !== null; at = at.parent) {
        const verdict = judge(at.rules[kind] ?? null, path.relative(at.folder, full), isFolder)
        if (verdict !== null) return verdict
        if (kind >= firstGitKind && at.hasGit) break
      }
    }
    return judge(this.global, path.basename(full), isFolder) ?? false
  }
}

/** Rules that take back whether the folders on the way to the searched one are ignored: it was named. */
function keepSearched(way: string): string {
  let rules = ''
  let folder = ''
  for (const name of way.split(path.sep).filter((part) => part !== '')) {
    folder += `/${name.replace(/[\\*?[\]! #]/g, '\\$&')}`
    rules += `\n!${folder}/`
  }
  return rules
}

function judge(matcher: Matcher | null, relative: string, isFolder: boolean): boolean | null {
  if (matcher === null) return null
  const name = relative.split(path.sep).join('/')
  const { ignored, unignored } = matcher.test(isFolder ? `${name}/` : name)
  if (unignored) return false
  if (!ignored) return null
  // The matcher also judges the folders on the way. One that is searched all the same was chosen by a stronger
  // rule, or by its path, and does not count for what is in it.
  const above = path.posix.dirname(name)
  return above !== '.' && matcher.test(`${above}/`).ignored ? null : true
}

/** The text of the ignore file that the user keeps for all of git; null when there is none. */
export async function readGlobalRules(
  home: string,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  const configFolder = environment.XDG_CONFIG_HOME || path.join(home, '.config')
  for (const file of [path.join(home, '.gitconfig'), path.join(configFolder, 'git', 'config')]) {
    const named = /^\s*excludesfile\s*=\s*"?([^"\n]+?)"?\s*$/im.exec((await readOptional(file)) ?? '')?.[1]
    if (named !== undefined) return await readOptional(named.replace(/^~(?=\/|$)/, () => home))
  }
  return await readOptional(path.join(configFolder, 'git', 'ignore'))
}

async function readOptional(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    // No such file, a folder of that name, or no right to read it: no rules, as ripgrep has it.
    if (errnoOf(error) !== null) return null
    throw error
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file)
    return true
  } catch (error) {
    if (errnoOf(error) !== null) return false
    throw error
  }
}
