import { abbreviates } from './readers.ts'

type Args = ReadonlyArray<string>

const plain: ReadonlySet<string> = new Set(
  (
    'status blame ls-files ls-tree rev-parse rev-list describe shortlog cherry for-each-ref name-rev merge-base ' +
    'count-objects check-ignore check-attr show-ref version'
  ).split(' '),
)

/** Whether `git ARGS` is proven to change nothing. Options that run a program, or set configuration, are not. */
export function isGitReader(args: Args): boolean {
  const rest = withoutGlobalOptions(args)
  if (rest === null) return false
  const [command, ...options] = rest
  if (command === undefined || command === '--version') return options.length === 0
  if (plain.has(command)) return !options.some(isWritingOption)
  return careful.get(command)?.(options) ?? false
}

function withoutGlobalOptions(args: Args): Args | null {
  let at = 0
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? ''
    if (arg === '--no-pager' || /^--(git-dir|work-tree)=/.test(arg)) continue
    if (arg === '-C' || arg === '--git-dir' || arg === '--work-tree') at += 1
    else if (arg === '--version') break
    else if (arg.startsWith('-')) return null
    else break
  }
  return args.slice(at)
}

const careful = new Map<string, (args: Args) => boolean>(
  Object.entries({
    diff: isDiffReader,
    show: isDiffReader,
    log: isDiffReader,
    whatchanged: isDiffReader,
    'diff-tree': isDiffReader,
    grep: (args) => !args.some((arg) => /^-[^-]*O/.test(arg) || abbreviates(arg, '--open-files-in-pager')),
    'cat-file': (args) =>
      !args.some((arg) => ['--filters', '--textconv'].some((each) => abbreviates(arg, each))),
    branch: (args) =>
      isListing(
        args,
        /^(-a|-r|-v|-vv|-l|--all|--remotes|--list|--verbose|--show-current|--(sort|format)=.*)$/,
        /^(-l|--list)$/,
      ) ||
      isListing(
        args,
        /^(-a|-r|--all|--remotes|--(no-)?merged|--(no-)?contains|--points-at)$/,
        /^--(no-)?(merged|contains)$|^--points-at$/,
      ),
    tag: (args) => isListing(args, /^(-l|--list|-n\d*|--(sort|format)=.*)$/, /^(-l|--list)$/),
    remote: ([command, ...rest]) =>
      command === undefined ||
      (command === '-v' && rest.length === 0) ||
      (command === 'get-url' && rest.length === 1),
    config: isConfigReader,
    worktree: ([command, ...rest]) =>
      command === 'list' && rest.every((arg) => /^(--porcelain|-z|-v)$/.test(arg)),
    stash: ([command, ...rest]) => (command === 'list' || command === 'show') && isDiffReader(rest),
    submodule: ([command]) => command === 'status' || command === 'summary',
    clean: (args) =>
      args.some((arg) => /^(-[dxXq]*n[dxXq]*|--dry-run)$/.test(arg)) &&
      args.every((arg) => !arg.startsWith('-') || /^(-[dxXqn]+|--dry-run)$/.test(arg)),
    reflog: ([command, ...rest]) =>
      command === undefined ||
      ((command === 'show' || command.startsWith('-')) && isDiffReader([command, ...rest])),
  }),
)

function isDiffReader(args: Args): boolean {
  return !args.some((arg) => /^-o/.test(arg) || isWritingOption(arg))
}

// Every command that walks history takes these, documented or not.
function isWritingOption(arg: string): boolean {
  return ['--output', '--ext-diff', '--textconv'].some((option) => abbreviates(arg, option))
}

/** All options are known ones that list; names are patterns only when one of them says so. */
function isListing(args: Args, known: RegExp, takesNames: RegExp): boolean {
  const options = args.filter((arg) => arg.startsWith('-'))
  if (!options.every((arg) => known.test(arg))) return false
  return options.length === args.length || options.some((arg) => takesNames.test(arg))
}

function isConfigReader(args: Args): boolean {
  const [first, ...rest] = args
  const scopes = /^--(global|local|system|worktree)$/
  if (first !== undefined && scopes.test(first)) return isConfigReader(rest)
  if (first === 'list' || first === '-l' || first === '--list')
    return rest.every((arg) => /^--(show-origin|show-scope|name-only)$/.test(arg))
  if (first === 'get' || /^--get(-all|-regexp)?$/.test(first ?? ''))
    return rest.every((arg) => !arg.startsWith('-'))
  return (
    first !== undefined && /^[\w.-]+\.[\w.-]+$/.test(first) && !first.startsWith('-') && rest.length === 0
  )
}
