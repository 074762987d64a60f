import path from 'node:path'

/** What tools may do (docs/access-modes.md). The order is that of the mode switch in the chat. */
export type AccessMode = 'read-only' | 'workspace-edit' | 'full-access'

/** The facts that every path decision needs. All paths are canonical. */
export interface AccessPolicy {
  readonly mode: AccessMode
  /** The folder the user opened. */
  readonly workspace: string
  /** The bundled documentation: readable in every mode, never written. It may lie below the folder of cass. */
  readonly docsFolder: string
  /** Where conversations, configuration and keys live: neither read nor written by tools. */
  readonly cassHome: string
}

/** Whether a call may run. A reason is a sentence for the model and the user, without a full stop. */
export type Decision =
  | { readonly type: 'allow' }
  | { readonly type: 'ask'; readonly reason: string }
  | { readonly type: 'deny'; readonly reason: string }

/** A path of a call, resolved once: `real` is what will be opened, `lexical` what was written. */
export interface CheckedPath {
  readonly lexical: string
  readonly real: string
}

/** Whether a tool may be offered in a mode at all. */
export type Availability = 'unavailable' | 'available' | 'requires_approval'

const readers: ReadonlyArray<string> = ['ls', 'read', 'grep']
const writers: ReadonlyArray<string> = ['write', 'edit']

/** The state of a tool in a mode. A tool that nobody knows is unavailable. */
export function availabilityOf(tool: string, mode: AccessMode): Availability {
  if (readers.includes(tool)) return 'available'
  if (mode === 'read-only') return 'unavailable'
  if (writers.includes(tool)) return 'available'
  if (tool !== 'shell') return 'unavailable'
  return mode === 'full-access' ? 'available' : 'requires_approval'
}

export interface Call {
  readonly tool: string
  /** Every path that the call names, resolved. */
  readonly paths: ReadonlyArray<CheckedPath>
  /** The text of a shell command; null for other tools. */
  readonly command: string | null
}

/** Decides one call: the tool by its mode, then each of its paths; the first refusal counts. */
export function decide({ tool, paths, command }: Call, policy: AccessPolicy): Decision {
  switch (availabilityOf(tool, policy.mode)) {
    case 'unavailable':
      return deny(unavailableReason(tool, policy.mode))
    case 'requires_approval':
      return { type: 'ask', reason: `the shell command needs your approval: ${command ?? ''}` }
    case 'available':
      break
  }
  const decidePath = writers.includes(tool) ? decideWrite : decideRead
  for (const each of paths) {
    const decision = decidePath(each, policy)
    if (decision.type !== 'allow') return decision
  }
  return { type: 'allow' }
}

function unavailableReason(tool: string, mode: AccessMode): string {
  if (writers.includes(tool)) return `write/edit tools are unavailable in ${mode} mode`
  if (tool === 'shell') return `shell is unavailable in ${mode} mode`
  return `unknown tool \`${tool}\``
}

/** Reading: never what can hold keys; inside the workspace or the bundled docs, but anywhere in full-access. */
export function decideRead({ real, lexical }: CheckedPath, policy: AccessPolicy): Decision {
  // Compared exactly: where two spellings are two folders, only one of them holds the docs.
  const isDocs = isInside(real, policy.docsFolder)
  if (!isDocs && [lexical, real].some((each) => isProtectedBy(each, policy.cassHome))) {
    return deny(`reads are blocked under the folder of cass itself: ${named(lexical, real)}`)
  }
  if (holdsEnvironment.test(real)) {
    return deny(`reads are blocked of what a process has in memory: ${named(lexical, real)}`)
  }
  if (policy.mode === 'full-access') return { type: 'allow' }
  const roots = [policy.workspace, policy.docsFolder]
  if (roots.some((root) => isInside(real, root))) return { type: 'allow' }
  return deny(`path escapes read-only roots: ${named(lexical, real)} (allowed roots: ${roots.join(', ')})`)
}

/** Writing: never below what is protected, neither as written nor as it really is; then by the mode. */
export function decideWrite({ real, lexical }: CheckedPath, policy: AccessPolicy): Decision {
  if (policy.mode === 'read-only') return deny('write access is unavailable in read-only mode')
  for (const each of [lexical, real]) {
    if (isProtectedBy(each, policy.docsFolder)) {
      return deny(`writes are blocked under read-only docs directory: ${named(lexical, real)}`)
    }
    if (isProtectedBy(each, policy.cassHome)) {
      return deny(`writes are blocked under the folder of cass itself: ${named(lexical, real)}`)
    }
    if (each.split(/[/\\]/).some(isGitName)) {
      return deny(`writes are blocked in git's own files: ${named(lexical, real)}`)
    }
  }
  if (policy.mode === 'workspace-edit' && !isInside(real, policy.workspace)) {
    const where = `(workspace root: ${policy.workspace})`
    return deny(`write path escapes workspace-edit root: ${named(lexical, real)} ${where}`)
  }
  return { type: 'allow' }
}

/** Whether `inner` is `outer` or lies below it. Both absolute; compared as the platform compares names. */
export function isInside(inner: string, outer: string): boolean {
  const way = path.relative(outer, inner)
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way))
}

// Where Linux shows the environment and the memory of each process, so also the keys in those of cass.
const holdsEnvironment = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$/

/**
 * Whether a path is a protected folder or lies below it. Compared without letter case everywhere: on a file system that
 * folds names, another spelling is the same folder, and refusing a foreign folder of that name costs nothing.
 */
export function isProtectedBy(candidate: string, folder: string): boolean {
  return isInside(folded(candidate), folded(folder))
}

/** Whether a path is a protected folder itself, compared in the same way. */
export function isCalled(candidate: string, folder: string): boolean {
  return folded(candidate) === folded(folder)
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

// Code points that HFS+ leaves out when it compares names, so `.g\u200cit` is `.git` there.
const ignoredByMac = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** Whether a name means `.git` on any file system: by letter case, short name, trailing dots, or a stream. */
export function isGitName(name: string): boolean {
  const plain = name
    .replace(ignoredByMac, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
  return plain === '.git' || plain === 'git~1'
}

function named(lexical: string, real: string): string {
  return lexical === real ? real : `${lexical} (really ${real})`
}

function deny(reason: string): Decision {
  return { type: 'deny', reason }
}
