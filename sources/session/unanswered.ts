import type { Graph } from '../conversation/graph.ts'
import type { ChainItem, Message } from '../conversation/message.ts'
import { CassError } from '../errors.ts'
import type { OpenedTarget } from './openTarget.ts'

/**
 * The user message that a turn without a prompt answers: the branch's last one, as long as no final answer stands behind
 * it. Throws `no_prompt`.
 */
export function findUnanswered({ shown, conversation, standing }: OpenedTarget): ChainItem {
  const items = conversation.items(shown, 'outline', standing.head)
  const user = items.findLast(({ message }) => message.role === 'user' && message.notice === undefined)
  const last = items.at(-1)
  if (user !== undefined && last !== undefined && !isFinalAnswer(last.message)) return user
  const chat = conversation.chatIdOf(standing.head)
  const why =
    user === undefined
      ? `the branch '${chat}' has no message yet`
      : `the last message of '${chat}' is answered`
  throw new CassError('no_prompt', `${why}, and there is no prompt`, {
    kind: 'usage',
    hint: 'give a prompt as an argument or through a pipe',
  })
}

/**
 * Whether a turn ends with this message because the model was done. A turn that was stopped ends with a notice, or, when its
 * process died or a branch begins within it, with calls or their results.
 */
function isFinalAnswer({ role, notice, tool_calls = [] }: Message): boolean {
  return role === 'assistant' && notice === undefined && tool_calls.length === 0
}

/** Throws `branch_busy` while another process answers: going on beside it would begin before the message itself. */
export function refuseAnsweredElsewhere(
  graph: Graph,
  {
    head,
    writer,
    deadWriters,
  }: { readonly head: string; readonly writer: string; readonly deadWriters: ReadonlySet<string> },
): void {
  const isLiving = (owner: string | null) => owner === null || (owner !== writer && !deadWriters.has(owner))
  if (![...graph.openTurns.values()].some((open) => open.head === head && isLiving(open.writer))) return
  throw new CassError('branch_busy', 'another process is answering the last message of this branch', {
    kind: 'busy',
    hint: 'wait until it is done, or give a prompt, which then goes on beside it',
  })
}
