import path from 'node:path'
import { makeBasePrompt } from '../agent/prompt.ts'
import type { Standing } from '../conversation/appendPlan.ts'
import { Conversation } from '../conversation/conversation.ts'
import { type CurrentBranch, tryReadCurrentBranch } from '../conversation/currentBranch.ts'
import type { Node } from '../conversation/graph.ts'
import type { Message } from '../conversation/message.ts'
import { CassError, errnoOf } from '../errors.ts'
import { readRegular, reasonOf } from '../files/openRegular.ts'
import { findBranch } from './findBranch.ts'
import { findNamed } from './listCheckpoints.ts'
import { newChatId, newMessageId, type Place } from './place.ts'

/** Which branch a turn goes on with. `seen`: the last message that the user was shown; omitted: its tip as it is now. */
export type TurnTarget =
  | { readonly type: 'new' }
  | { readonly type: 'continue' }
  | { readonly type: 'branch'; readonly branch: string; readonly seen?: string }

/** A branch that is ready for a turn. */
export interface OpenedTarget {
  readonly conversation: Conversation
  readonly standing: Standing
  /** The path of the branch up to the standing. */
  readonly shown: ReadonlyArray<Node>
  /** The system text of a chat that begins now. */
  readonly opening: { readonly id: string; readonly message: Message } | null
  /** The folder's current branch when the turn began. */
  readonly current: CurrentBranch | null
}

/** Opens the branch, or begins a chat, of which nothing is on disk before its first message. */
export async function openTarget(place: Place, target: TurnTarget, model: string): Promise<OpenedTarget> {
  const current = tryReadCurrentBranch(place.root, place.cwd)
  if (target.type === 'new') return await beginChat(place, model, current)
  const { conversation, head, chat_id } =
    target.type === 'continue' ? findBranch(place, { type: 'current' }) : findNamed(place, target.branch)
  if (conversation.head(head).retired) {
    throw new CassError('branch_retired', `the branch '${chat_id}' is retired`, {
      kind: 'refused',
      hint: 'make a new branch at one of its checkpoints: cass branch CHECKPOINT',
    })
  }
  const chain = conversation.chain(head)
  const seen = target.type === 'branch' ? target.seen : undefined
  const end = seen === undefined ? chain.length : chain.findIndex(({ id }) => id === seen) + 1
  const shown = chain.slice(0, end === 0 ? chain.length : end)
  return {
    conversation,
    standing: { head, seen: shown.at(-1)?.id ?? null },
    shown,
    opening: null,
    current,
  }
}

async function beginChat(place: Place, model: string, current: CurrentBranch | null): Promise<OpenedTarget> {
  const ts = place.now().toISOString()
  const meta = { created_at: ts, model, cwd: place.cwd }
  const content = makeBasePrompt({ globalInstructions: await readGlobalInstructions(place) })
  return {
    conversation: Conversation.begin(place.root, newChatId(place), meta),
    standing: { head: 'main', seen: null },
    shown: [],
    opening: { id: newMessageId(place), message: { role: 'system', content, ts } },
    current,
  }
}

/** The user's own instructions for all chats; null without any. */
async function readGlobalInstructions(place: Place): Promise<string | null> {
  const file = path.join(place.root, 'global.md')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readRegular(file))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : reasonOf(error)
    throw new CassError('global_instructions_unreadable', `cannot read '${file}': ${reason}`, {
      cause: error,
      hint: 'mend the file, or move it away: it holds instructions that every chat begins with',
    })
  }
}
