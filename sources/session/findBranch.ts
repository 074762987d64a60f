import { FIRST_BRANCH, matchBranch } from '../conversation/branchName.ts'
import { Conversation } from '../conversation/conversation.ts'
import { readCurrentBranch } from '../conversation/currentBranch.ts'
import { findChat } from '../conversation/library.ts'
import type { BranchSpec } from '../conversation/selector.ts'
import { CassError } from '../errors.ts'
import type { Branch } from './branch.ts'
import { knownBranches } from './family.ts'
import type { Place } from './place.ts'

/** A branch that was found: its conversation, read, and its head there. */
export interface FoundBranch {
  readonly conversation: Conversation
  readonly head: string
  readonly chat_id: string
}

/**
 * Finds and reads a branch. Throws `no_current_branch`, `current_branch_unreadable`, `branch_not_found`, `branch_ambiguous`, or
 * what reading a conversation throws.
 */
export function findBranch(place: Place, spec: BranchSpec): FoundBranch {
  const chatId = spec.type === 'current' ? currentChat(place) : namedChat(place, spec.name)
  const found = findChat(place.root, chatId)
  if (found === null) {
    throw new CassError('branch_not_found', `no branch is named '${chatId}'`, {
      hint: 'list branches with: cass branches --all',
    })
  }
  const conversation = Conversation.open(place.root, found.conversation)
  conversation.head(found.head)
  return { conversation, head: found.head, chat_id: chatId }
}

function currentChat(place: Place): string {
  const current = readCurrentBranch(place.root, place.cwd)
  if (current !== null) return current.chat_id
  throw new CassError('no_current_branch', `the folder '${place.cwd}' has no current branch yet`, {
    hint: 'begin a chat with cass run or cass chat, or choose one with: cass switch BRANCH',
  })
}

function namedChat(place: Place, name: string): string {
  // A whole chat id needs no lists, and works from every folder.
  if (findChat(place.root, name) !== null) return name
  const { family, others } = knownBranches(place)
  const isLive = ({ retired }: Branch) => !retired
  const isNamed = (branch: Branch) => branch.name === name
  const namesakes = [...family, ...others].filter(isNamed)
  // Other programs, and older versions of this one, may have given the name away.
  const current =
    name === FIRST_BRANCH && namesakes.length === 0 ? readCurrentBranch(place.root, place.cwd) : null
  if (current !== null) return current.conversation
  // The whole name of a retired branch is not taken for the beginning of a live one's.
  const isWanted = namesakes.length === 0 || namesakes.some(isLive) ? isLive : isNamed
  try {
    return matchBranch(name, { family: family.filter(isWanted), others: others.filter(isWanted) }).chat_id
  } catch (error) {
    // The name of a retired branch may have been given away again, so the retired ones are looked at last.
    if (!(error instanceof CassError) || error.code !== 'branch_not_found') throw error
    return matchBranch(name, { family, others }).chat_id
  }
}
