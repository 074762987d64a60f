import { groupMessages } from '../conversation/groups.ts'
import type { Message } from '../conversation/message.ts'
import type { RequestMessage } from '../conversation/request.ts'
import { buildRequest } from '../conversation/request.ts'
import { addGroup } from './fillWindow.ts'
import type { ToolSpec } from './model.ts'
import { estimateTokens } from './tokens.ts'
import { makeWindow, windowGroups, windowTokens } from './window.ts'
import { shownMessage } from './windowParts.ts'

/** What is known of the model's room and the user's limits. */
export interface ContextBudget {
  /** Null: not known, 32,000 tokens are assumed. */
  readonly context_length: number | null
  /** Null: not known, 4,096 tokens are kept free for the answer. */
  readonly max_output_tokens: number | null
  /** Messages beside the system message; 0 counts as 1. */
  readonly message_limit: number
  /** Characters of one tool result. */
  readonly tool_result_limit: number
}

export interface Context {
  readonly messages: ReadonlyArray<RequestMessage>
  /** Estimated tokens of the request with the tools, calibrated by what the provider reported before. */
  readonly tokens: number
  readonly budget: number
  /** True when earlier messages are not in the request. */
  readonly omitted: boolean
}

/** Room for the note on omitted messages and for a sentence that asks once more. */
const NOTE_TOKENS = 160

/** Long branches are looked at from a message whose index is a multiple of this, so that it seldom changes. */
const ANCHOR = 256

const OMISSION_NOTE =
  '[Cass omitted earlier messages of this conversation to fit the model context. Ask, or look again, for what is missing.]'

/** The tokens that one request may have: the model's context less the answer and a margin for wrong estimates. */
export function contextBudget({ context_length, max_output_tokens }: ContextBudget): number {
  const length = Math.max(context_length ?? 32_000, 2_048)
  const reserve = Math.min(max_output_tokens ?? 4_096, Math.floor(length / 2))
  const safety = Math.min(8_192, Math.max(512, Math.floor(length / 50)))
  return Math.max(1_024, length - reserve - safety)
}

/**
 * The request for a branch: all of it when there is room, else without what is oldest and with shorter tool results.
 * The last user message is always there, tool calls keep their results, and `messages` themselves never change.
 */
export function makeContext({
  system,
  messages,
  nudge,
  tools,
  limits,
  share,
}: {
  readonly system: string
  /** The branch in order; system messages in it are left out. */
  readonly messages: ReadonlyArray<Message>
  /** A last user message that belongs to this request only; null when there is none. */
  readonly nudge: Message | null
  readonly tools: ReadonlyArray<ToolSpec>
  readonly limits: ContextBudget
  /** 1; less once a provider has refused a request as too long. */
  readonly share: number
}): Context {
  const budget = Math.floor(contextBudget(limits) * share)
  const window = makeWindow({
    budget,
    overhead: estimateTokens(system) + estimateTokens(JSON.stringify(tools)) + NOTE_TOKENS,
    messages: Math.max(1, limits.message_limit),
    result: limits.tool_result_limit,
  })
  const start = findAnchor(messages, { budget, messageLimit: window.limits.messages })
  window.dropped = messages.slice(0, start).some(({ role }) => role !== 'system')
  if (messages[start]?.role !== 'user') {
    const asked = messages
      .slice(0, start)
      .findLast(({ role, notice }) => role === 'user' && notice === undefined)
    if (asked !== undefined) addGroup(window, { type: 'user', messages: [asked] })
  }
  for (const group of groupMessages(messages.slice(start))) addGroup(window, group)
  const shown = windowGroups(window).flatMap((group) => group.parts.map(shownMessage))
  return {
    messages: buildRequest(
      window.dropped ? `${system}\n\n${OMISSION_NOTE}` : system,
      nudge === null ? shown : [...shown, nudge],
    ),
    tokens: windowTokens(window),
    budget,
    omitted: window.dropped,
  }
}

/** Where to begin: several windows before the end, at the start of a group, without reading what is before. */
function findAnchor(
  messages: ReadonlyArray<Message>,
  { budget, messageLimit }: { budget: number; messageLimit: number },
): number {
  let index = messages.length
  let characters = 0
  while (index > 0 && characters < budget * 6 && messages.length - index < messageLimit * 2) {
    index -= 1
    characters += messages[index]?.content.length ?? 0
    for (const call of messages[index]?.tool_calls ?? []) characters += call.arguments.length
  }
  index -= index % ANCHOR
  while (index > 0 && messages[index]?.role === 'tool') index -= 1
  return index
}
