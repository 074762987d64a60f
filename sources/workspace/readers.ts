/**
 * Which programs only read, and with which arguments (docs/access-modes.md). Each judge gets the arguments as they
 * reach the program and says whether the call is proven to change nothing; what is not listed is not proven.
 */
export type Judge = (args: ReadonlyArray<string>) => boolean

const noOptions: Judge = (args) => args.every((arg) => !/^[-+]/.test(arg))

/** Programs that change nothing whatever their arguments are. Their arguments need not be known. */
export const plainReaders: ReadonlySet<string> = new Set(
  (
    'cat head tail ls locate which whereis type grep egrep fgrep echo pwd cd whoami id uname printenv wc cut tr stat ' +
    'du df ps top htop diff cmp comm true false test [ : basename dirname realpath readlink nl tac rev fold column ' +
    'paste join expand unexpand jq md5sum sha1sum sha256sum sha512sum shasum cksum od hexdump strings seq sleep ' +
    'uptime arch nproc groups logname users who w free lscpu getconf tsort'
  ).split(' '),
)

/** Programs that also can write: read-only for some arguments. */
export const carefulReaders: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  // Options of these can run a program or write a log.
  ['less', noOptions],
  ['more', noOptions],
  ['man', noOptions],
  ['info', noOptions],
  ['printf', (args) => args[0] !== '-v'],
  ['command', (args) => args[0] === '-v' || args[0] === '-V'],
  ['hostname', (args) => args.every((arg) => /^-[fsiIdA]$/.test(arg))],
  ['date', isDateReader],
  ['env', (args) => args.length === 0],
  ['file', (args) => !args.some((arg) => /^-[^-]*C/.test(arg) || abbreviates(arg, '--compile'))],
  ['tree', (args) => !args.some((arg) => /^-[^-]*[oR]/.test(arg) || abbreviates(arg, '--output'))],
  [
    'rg',
    (args) =>
      !args.some(
        (arg) => /^--(pre|hostname-bin)(=|$)/.test(arg) || /^-[^-]*z/.test(arg) || arg === '--search-zip',
      ),
  ],
  ['sort', isSortReader],
  // The second operand of uniq is its output; an option's value may be counted as an operand, which is careful.
  ['uniq', (args) => args.filter((arg) => !arg.startsWith('-')).length <= 1],
  ['find', isFindReader],
  ['sed', isSedReader],
  ['go', isGoReader],
  ['npm', isNpmReader],
  ['cargo', (args) => args[0] === 'search' || isVersionProbe(args)],
  [
    'docker',
    (args) => /^(ps|images|inspect|logs|stats|info|version)$/.test(args[0] ?? '') || isVersionProbe(args),
  ],
  ['kubectl', (args) => /^(get|describe|logs|explain|api-resources|api-versions)$/.test(args[0] ?? '')],
  ...'node deno bun python python3 ruby perl php java javac rustc gcc clang tsc pip pip3 make cmake'
    .split(' ')
    .map((name): [string, Judge] => [name, isVersionProbe]),
])

/** Readers of the PowerShell kind, all in lower case; they take no lock on Windows either. */
export const powerShellReaders: ReadonlySet<string> = new Set(
  (
    'get-childitem get-content get-location get-item get-process get-service get-date get-command get-help ' +
    'get-filehash get-host select-string measure-object resolve-path test-path dir'
  ).split(' '),
)

/** Whether `arg` is the long option, also cut short as GNU programs and git allow, with or without a value. */
export function abbreviates(arg: string, option: string): boolean {
  const name = arg.split('=', 1)[0] ?? ''
  return name.startsWith('--') && name.length > 2 && option.startsWith(name)
}

function isVersionProbe(args: ReadonlyArray<string>): boolean {
  return args.length === 1 && (args[0] === '--version' || args[0] === '-v' || args[0] === '-V')
}

// Anything that is no format may be a time to set.
function isDateReader(args: ReadonlyArray<string>): boolean {
  return args.every(
    (arg, index) =>
      /^\+|^(-[uRI]|--utc|--universal|--date=.*|--iso-8601.*|--rfc-.*|-I.+)$/s.test(arg) ||
      /^-[dr]$/.test(arg) ||
      /^-[dr]$/.test(args[index - 1] ?? ''),
  )
}

function isSortReader(args: ReadonlyArray<string>): boolean {
  return !args.some(
    (arg) =>
      /^-[^-]*[oT]/.test(arg) ||
      ['--output', '--compress-program', '--temporary-directory', '--files0-from'].some((each) =>
        abbreviates(arg, each),
      ),
  )
}

const findWriters = /^-(exec|execdir|ok|okdir|delete|fls|fprint|fprint0|fprintf)$/

function isFindReader(args: ReadonlyArray<string>): boolean {
  return !args.some((arg) => findWriters.test(arg))
}

// Only the form that prints lines by number; a sed script can write files and run programs.
function isSedReader([option, script, ...files]: ReadonlyArray<string>): boolean {
  if (option !== '-n' || script === undefined) return false
  return (
    /^(\d+|\$)?(,(\d+|\$))?p(;(\d+|\$)(,(\d+|\$))?p)*$/.test(script) &&
    files.every((arg) => !arg.startsWith('-'))
  )
}

function isGoReader([command, ...rest]: ReadonlyArray<string>): boolean {
  if (!/^(vet|doc|list|version|env)$/.test(command ?? '')) return false
  return !rest.some((arg) => /^--?(w|u|mod|modfile|toolexec|exec|vettool|export|overlay)(=|$)/.test(arg))
}

function isNpmReader([command, ...rest]: ReadonlyArray<string>): boolean {
  if (command === '--version' || command === '-v') return rest.length === 0
  if (!/^(ls|list|view|info|outdated|audit)$/.test(command ?? '')) return false
  if (command === 'audit' && rest.some((arg) => !arg.startsWith('-'))) return false
  const known = /^(--json|--depth(=\d+)?|-g|--global|--all|-a|--long|-l|--omit=\w+|--prod|--production)$/
  return rest.every((arg) => !arg.startsWith('-') || known.test(arg))
}
