import { CassError } from '../errors.ts'
import { isChatId } from './ids.ts'

/** What a branch can be named by. */
export interface BranchCandidate {
  readonly chat_id: string
  readonly name: string | null
}

/** Names the first branch of the current conversation, so no other branch can be named so. */
export const FIRST_BRANCH = 'main'

const MAX_NAME_LENGTH = 64
/** More would fill a screen; `data` has them all. */
const MAX_LISTED = 8

/**
 * The branch that a word names: by chat id, then name, then unique prefix of either; in the family first, then in
 * the folder's other chats. Throws `branch_not_found` or `branch_ambiguous`, with the candidates.
 */
export function matchBranch<B extends BranchCandidate>(
  word: string,
  { family, others }: { readonly family: ReadonlyArray<B>; readonly others: ReadonlyArray<B> },
): B {
  for (const branches of isChatId(word) ? [[...family, ...others]] : [family, others]) {
    const [found, ...more] = unique(hitsIn(branches, word))
    if (found !== undefined && more.length > 0) throw ambiguous(word, [found, ...more])
    if (found !== undefined) return found
  }
  const known = unique([...family, ...others])
  throw new CassError('branch_not_found', `no branch is named '${word}'`, {
    hint: known.length === 0 ? 'list branches with cass branches --all' : `name one of: ${list(known)}`,
    data: { candidates: known.map(({ chat_id }) => chat_id) },
  })
}

function hitsIn<B extends BranchCandidate>(branches: ReadonlyArray<B>, word: string): ReadonlyArray<B> {
  if (word === '') return []
  const tests: ReadonlyArray<(branch: B) => boolean> = [
    ({ chat_id }) => chat_id === word,
    ({ name }) => name === word,
    ({ chat_id, name }) => chat_id.startsWith(word) || (name?.startsWith(word) ?? false),
  ]
  for (const test of tests) {
    const hits = branches.filter(test)
    if (hits.length > 0) return hits
  }
  return []
}

function unique<B extends BranchCandidate>(branches: ReadonlyArray<B>): ReadonlyArray<B> {
  return [...new Map(branches.map((branch) => [branch.chat_id, branch])).values()]
}

function ambiguous(word: string, hits: ReadonlyArray<BranchCandidate>): CassError {
  return new CassError('branch_ambiguous', `'${word}' names ${hits.length} branches`, {
    hint: `name one of: ${list(hits)}`,
    data: { candidates: hits.map(({ chat_id }) => chat_id) },
  })
}

function list(branches: ReadonlyArray<BranchCandidate>): string {
  const shown = branches
    .slice(0, MAX_LISTED)
    .map(({ chat_id, name }) => (name === null ? chat_id : `${chat_id} (${name})`))
  return shown.join(', ') + (branches.length > MAX_LISTED ? ', …' : '')
}

/** Refuses a name against the rules (`bad_branch_name`), or one that the family has (`branch_name_taken`). */
export function checkBranchName(name: string, taken: Iterable<string>): void {
  const fault = RULES.find(({ breaks }) => breaks(name))
  if (fault !== undefined) {
    throw new CassError('bad_branch_name', `'${name}' cannot be the name of a branch: ${fault.text}`, {
      kind: 'usage',
      hint: `choose a name of 1 to ${MAX_NAME_LENGTH} characters without blanks, ~, :, ^ and @`,
    })
  }
  if (new Set(taken).has(name)) {
    throw new CassError('branch_name_taken', `another branch of this conversation is named '${name}'`, {
      kind: 'usage',
      hint: 'choose another name, or rename that branch with cass branch --rename',
    })
  }
}

const RULES: ReadonlyArray<{ readonly text: string; readonly breaks: (name: string) => boolean }> = [
  { text: 'it always means the first branch', breaks: (name) => name === FIRST_BRANCH },
  { text: 'it is empty', breaks: (name) => name === '' },
  {
    text: `it is longer than ${MAX_NAME_LENGTH} characters`,
    breaks: (name) => Array.from(name).length > MAX_NAME_LENGTH,
  },
  { text: 'it holds one of ~ : ^ @', breaks: (name) => /[~:^@]/.test(name) },
  { text: 'it holds a blank', breaks: (name) => /\s/.test(name) },
  { text: 'it holds a control character', breaks: (name) => /[\p{Cc}\p{Cs}]/u.test(name) },
  { text: 'it starts with -', breaks: (name) => name.startsWith('-') },
  { text: 'it has the shape of a chat id', breaks: isChatId },
]
