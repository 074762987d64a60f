import { dropOldest, newestStep, reshow, type Window, windowGroups, windowTokens } from './window.ts'
import { type Part, RESULT_STEPS } from './windowParts.ts'

/** Over the budget, the window is brought down to this share of it, so that the next steps leave its start alone. */
const TRIM_TO = 0.7

/** A shorter form that is not much shorter is not worth a changed start. */
const WORTH_IT = 0.7

/** The shortest that a user message or an answer is cut to before the window gives up. */
const SHORTEST_TEXT = 400

/** Brings a window that is over its limits down, well below them where that is possible. */
export function trimWindow(window: Window): void {
  trimTokens(window)
  const { messages } = window.limits
  if (window.messages <= messages) return
  const target = Math.max(1, Math.floor(messages * TRIM_TO))
  while (window.messages > target && dropOldest(window)) {}
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

function olderResults(window: Window): ReadonlyArray<Part> {
  const newest = newestStep(window)
  return windowGroups(window)
    .filter((group) => group !== newest)
    .flatMap(({ parts }) => parts)
    .filter(({ message }) => message.role === 'tool')
}

function shortenNewest(window: Window, steps: ReadonlyArray<number>): void {
  const results = newestStep(window)?.parts.filter(({ message }) => message.role === 'tool') ?? []
  for (const step of steps) shortenResults(window, { results, step, target: window.limits.budget, worth: 1 })
}

interface Shortening {
  readonly results: ReadonlyArray<Part>
  /** Index into RESULT_STEPS. */
  readonly step: number
  /** Tokens at which to stop. */
  readonly target: number
  /** The share of its tokens that a shorter form may have at most. */
  readonly worth: number
}

/** Shows results shorter, the oldest first, until the window is down to `target`. */
function shortenResults(window: Window, { results, step, target, worth }: Shortening): void {
  for (const part of results) {
    if (windowTokens(window) <= target) return
    if (part.step >= step || part.shown.length <= (RESULT_STEPS[step] ?? 0)) continue
    const { tokens, step: previous } = part
    reshow(window, part, { step })
    if (part.tokens > tokens * worth) reshow(window, part, { step: previous })
  }
}

/** The last means: answers without their reasoning and arguments, then all texts halved until they fit. */
function shortenRest(window: Window): void {
  const { budget } = window.limits
  const parts = windowGroups(window)
    .flatMap((group) => group.parts)
    .filter(({ message }) => message.role !== 'tool')
  for (const part of parts) {
    if (windowTokens(window) <= budget) return
    if (part.message.role === 'assistant') reshow(window, part, { bare: true })
  }
  while (windowTokens(window) > budget) {
    const longest = parts.reduce<Part | null>(
      (found, part) => (found === null || part.shown.length > found.shown.length ? part : found),
      null,
    )
    if (longest === null || longest.shown.length <= SHORTEST_TEXT) return
    const before = longest.shown.length
    reshow(window, longest, { step: longest.step + 1 })
    if (longest.shown.length >= before) return
  }
}
