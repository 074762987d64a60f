import type { MessageGroup } from '../conversation/groups.ts'
import type { Message } from '../conversation/message.ts'
import { readCoverage } from './readSections.ts'
import type { Group, Part } from './windowParts.ts'
import { makePart, RESULT_STEPS, refresh } from './windowParts.ts'

/** Over the budget, the window is brought down to this share of it, so that the next steps leave its start alone. */
const TRIM_TO = 0.7

/** A shorter form that is not much shorter is not worth a changed start. */
const WORTH_IT = 0.7

/** The shortest that a user message or an answer is cut to before the window gives up. */
const SHORTEST_TEXT = 400

/** Estimated tokens that must have been reported on before the estimates are corrected by it. */
const MIN_CALIBRATED = 500

export interface WindowLimits {
  /** Tokens for everything: system text, tools, messages. */
  readonly budget: number
  /** Tokens of what is not a message: system text, tools, notes. */
  readonly overhead: number
  readonly messages: number
  /** Characters of one tool result. */
  readonly result: number
}

interface Turn {
  /** Null only for messages before the first user message. */
  readonly user: Group | null
  readonly steps: Group[]
}

/**
 * What is shown of a branch. It is filled message by message, and trimmed when it is over a limit, so that its state
 * depends on nothing but the messages so far: the start of a request stays the same from one request to the next,
 * as the caches of providers want it.
 */
export interface Window {
  readonly limits: WindowLimits
  readonly turns: Turn[]
  /** Real tokens for each estimated one, as the provider's own figures say. */
  factor: number
  readonly growth: Growth
  dropped: boolean
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

export function makeWindow(limits: WindowLimits): Window {
  const growth = { reported: 0, estimated: 0, last: null, since: 0 }
  return { limits, turns: [], factor: 1, growth, dropped: false }
}

/** Adds the next messages of the branch: a user message, or a step of the model with its results. */
export function addGroup(window: Window, { type, messages }: MessageGroup): void {
  const [first] = messages
  if (first === undefined) return
  calibrate(window, first)
  const parts = messages.map((message, index) =>
    makePart(message, first.tool_calls?.[index - 1] ?? null, window.limits.result),
  )
  const turn = window.turns.at(-1)
  if (type === 'user') window.turns.push({ user: { type: 'user', parts }, steps: [] })
  else if (turn === undefined) window.turns.push({ user: null, steps: [{ type: 'step', parts }] })
  else turn.steps.push({ type: 'step', parts })
  for (const part of parts) {
    supersede(window, part)
    window.growth.since += part.tokens
  }
  trim(window)
}

/** All groups that are shown, in order. */
export function windowGroups(window: Window): ReadonlyArray<Group> {
  return window.turns.flatMap(({ user, steps }) => (user === null ? steps : [user, ...steps]))
}

/** The estimated tokens of the request. */
export function windowTokens(window: Window): number {
  let tokens = window.limits.overhead
  for (const { parts } of windowGroups(window)) for (const part of parts) tokens += part.tokens
  return Math.ceil(tokens * window.factor)
}

function calibrate(window: Window, { role, usage }: Message): void {
  const reported = usage?.input_tokens ?? 0
  if (role !== 'assistant' || reported <= 0) return
  const { growth } = window
  if (growth.last !== null && reported > growth.last) {
    growth.reported += reported - growth.last
    growth.estimated += growth.since
  }
  growth.last = reported
  growth.since = 0
  if (growth.estimated < MIN_CALIBRATED) return
  const factor = Math.min(3, Math.max(0.7, growth.reported / growth.estimated))
  // Small differences are noise, and following them would move the cut with each answer.
  if (Math.abs(factor / window.factor - 1) > 0.15) window.factor = factor
}

/** A new read makes earlier results that show the same lines superfluous. */
function supersede(window: Window, { message, call, shown }: Part): void {
  // A result that is itself cut for the model stands for nothing else.
  if (message.role !== 'tool' || message.ok === false || shown !== message.content) return
  if ((message.name ?? call?.name) !== 'read') return
  const coverage = readCoverage(message.content, call?.arguments ?? '')
  for (const part of windowGroups(window).flatMap(({ parts }) => parts)) {
    if (part.message === message) return
    if (part.message.role !== 'tool' || (part.message.name ?? part.call?.name) !== 'read') continue
    const relevant = coverage.filter(({ path }) => part.message.content.includes(`--- ${path} lines `))
    if (relevant.length === 0) continue
    part.later = [...part.later, ...relevant]
    const before = part.tokens
    refresh(part, window.limits.result)
    window.growth.since -= before - part.tokens
  }
}

function trim(window: Window): void {
  const before = windowTokens(window)
  trimTokens(window)
  trimCount(window)
  // The next request is shorter than the growth since the last one says.
  if (windowTokens(window) < before) window.growth.last = null
}

/** Shorter results first, the older ones before the newest, then without the oldest steps, then whatever helps. */
function trimTokens(window: Window): void {
  const { budget } = window.limits
  const target = budget * TRIM_TO
  for (const step of [3, 4]) {
    if (windowTokens(window) <= budget) return
    shortenResults(window, { results: olderResults(window), step, target, worth: WORTH_IT })
  }
  shortenNewest(window, [1, 2])
  if (windowTokens(window) > budget) while (windowTokens(window) > target && dropOldest(window)) {}
  shortenNewest(window, [3, 4])
  if (windowTokens(window) > budget) shortenRest(window)
}

function trimCount(window: Window): void {
  const { messages } = window.limits
  if (countMessages(window) <= messages) return
  const target = Math.max(1, Math.floor(messages * TRIM_TO))
  while (countMessages(window) > target && dropOldest(window)) {}
}

function countMessages(window: Window): number {
  return windowGroups(window).reduce((count, { parts }) => count + parts.length, 0)
}

function newestGroup(window: Window): Group | undefined {
  return windowGroups(window).findLast(({ type }) => type === 'step')
}

function newestResults(window: Window): ReadonlyArray<Part> {
  return newestGroup(window)?.parts.filter(({ message }) => message.role === 'tool') ?? []
}

function olderResults(window: Window): ReadonlyArray<Part> {
  const newest = newestGroup(window)
  return windowGroups(window)
    .filter((group) => group !== newest)
    .flatMap(({ parts }) => parts)
    .filter(({ message }) => message.role === 'tool')
}

function shortenNewest(window: Window, steps: ReadonlyArray<number>): void {
  for (const step of steps) {
    shortenResults(window, { results: newestResults(window), step, target: window.limits.budget, worth: 1 })
  }
}

interface Shortening {
  readonly results: ReadonlyArray<Part>
  readonly step: number
  /** Tokens at which to stop. */
  readonly target: number
  /** The share of its tokens that a shorter form may have at most. */
  readonly worth: number
}

/** Shows results shorter, the oldest first, until the window is down to `target`. */
function shortenResults(window: Window, { results, step, target, worth }: Shortening): void {
  let tokens = windowTokens(window)
  for (const part of results) {
    if (tokens <= target) return
    if (part.step >= step || part.shown.length <= (RESULT_STEPS[step] ?? 0)) continue
    const before = part.tokens
    const previous = part.step
    part.step = step
    refresh(part, window.limits.result)
    if (part.tokens > before * worth) {
      part.step = previous
      refresh(part, window.limits.result)
    }
    tokens += (part.tokens - before) * window.factor
  }
}

/**
 * Drops the oldest step, together with its user message when it is the last of a finished turn: so what is left
 * starts with a user message. The current user message and the newest step of its turn always stay.
 */
function dropOldest(window: Window): boolean {
  const [turn] = window.turns
  if (turn === undefined) return false
  const isCurrent = window.turns.length === 1
  if (isCurrent && turn.steps.length <= 1) return false
  if (!isCurrent && turn.steps.length <= 1) window.turns.shift()
  else turn.steps.shift()
  window.dropped = true
  return true
}

/** The last means: the newest step without its reasoning and arguments, then all texts halved until they fit. */
function shortenRest(window: Window): void {
  const parts = windowGroups(window)
    .flatMap((group) => group.parts)
    .filter(({ message }) => message.role !== 'tool')
  for (const part of parts) {
    if (part.message.role !== 'assistant' || windowTokens(window) <= window.limits.budget) continue
    part.bare = true
    refresh(part, window.limits.result)
  }
  while (windowTokens(window) > window.limits.budget) {
    const longest = parts.reduce<Part | null>(
      (found, part) => (found === null || part.shown.length > found.shown.length ? part : found),
      null,
    )
    if (longest === null || longest.shown.length <= SHORTEST_TEXT) return
    const before = longest.shown.length
    longest.step += 1
    refresh(longest, window.limits.result)
    if (longest.shown.length >= before) return
  }
}
