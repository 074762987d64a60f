import type { Message } from '../conversation/message.ts'
import { makePart, type Part, refresh } from './windowParts.ts'

export interface WindowLimits {
  /** Tokens for everything: system text, tools, messages. */
  readonly budget: number
  /** Tokens of what is not a message: system text, tools, notes. */
  readonly overhead: number
  readonly messages: number
  /** Characters of one tool result. */
  readonly result: number
}

/** A user message, or what the model did next: an assistant message and its results. */
export interface Group {
  readonly type: 'user' | 'step'
  readonly parts: ReadonlyArray<Part>
}

interface Turn {
  /** Null only for messages before the first user message. */
  readonly user: Group | null
  readonly steps: Group[]
}

/**
 * By how much requests grew from one answer to the next, as reported and as estimated. Whole requests are no measure:
 * what an earlier one held (another prompt, other tools, messages from before this window) is not known any more.
 */
interface Growth {
  reported: number
  estimated: number
  /** Input tokens of the last answer; null when there was none, or messages were left out since. */
  last: number | null
  /** Estimated tokens of what was added since that answer was asked for. */
  since: number
}

/** What is shown of a branch, with its totals kept up to date by the functions of this module. */
export interface Window {
  readonly limits: WindowLimits
  readonly turns: Turn[]
  /** Results of `read` that still show lines of a file, by its path. */
  readonly reads: Map<string, Part[]>
  readonly growth: Growth
  /** Real tokens for each estimated one, as the provider's own figures say. */
  factor: number
  /** Estimated tokens and number of the messages that are shown. */
  tokens: number
  messages: number
  /** True when messages were left out. */
  dropped: boolean
}

export function makeWindow(limits: WindowLimits): Window {
  return {
    limits,
    turns: [],
    reads: new Map(),
    growth: { reported: 0, estimated: 0, last: null, since: 0 },
    factor: 1,
    tokens: 0,
    messages: 0,
    dropped: false,
  }
}

/** The tokens of the whole request. */
export function windowTokens({ limits, tokens, factor }: Window): number {
  return Math.ceil((limits.overhead + tokens) * factor)
}

/** All groups that are shown, in order. */
export function windowGroups({ turns }: Window): ReadonlyArray<Group> {
  return turns.flatMap(({ user, steps }) => (user === null ? steps : [user, ...steps]))
}

/** The last thing that the model did. */
export function newestStep({ turns }: Window): Group | undefined {
  return turns.findLast(({ steps }) => steps.length > 0)?.steps.at(-1)
}

/** Shows one more group. The first message of a step has the calls that the others answer, in their order. */
export function appendGroup(window: Window, type: Group['type'], messages: ReadonlyArray<Message>): Group {
  const calls = messages[0]?.tool_calls
  const parts = messages.map((message, index) =>
    makePart(message, calls?.[index - 1] ?? null, window.limits.result),
  )
  const group = { type, parts }
  const turn = window.turns.at(-1)
  if (type === 'user') window.turns.push({ user: group, steps: [] })
  else if (turn === undefined) window.turns.push({ user: null, steps: [group] })
  else turn.steps.push(group)
  count(window, group, 1)
  return group
}

/** Changes how a part is shown. */
export function reshow(
  window: Window,
  part: Part,
  change: Partial<Pick<Part, 'later' | 'step' | 'bare'>>,
): void {
  const before = part.tokens
  Object.assign(part, change)
  refresh(part, window.limits.result)
  window.tokens += part.tokens - before
}

/**
 * Drops the oldest step, together with its user message when it is the last of a finished turn: so what is left
 * starts with a user message. The current user message and the newest step of its turn always stay.
 */
export function dropOldest(window: Window): boolean {
  const [turn] = window.turns
  if (turn === undefined) return false
  const isCurrent = window.turns.length === 1
  if (isCurrent && turn.steps.length <= 1) return false
  const step = turn.steps.shift()
  if (step !== undefined) count(window, step, -1)
  if (!isCurrent && turn.steps.length === 0) {
    window.turns.shift()
    if (turn.user !== null) count(window, turn.user, -1)
  }
  window.dropped = true
  return true
}

function count(window: Window, { parts }: Group, sign: 1 | -1): void {
  window.messages += sign * parts.length
  for (const part of parts) {
    window.tokens += sign * part.tokens
    part.isShown = sign === 1
  }
}
