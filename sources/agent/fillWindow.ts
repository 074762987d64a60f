import type { MessageGroup } from '../conversation/groups.ts'
import type { Message } from '../conversation/message.ts'
import { parseReadSections, readCoverage } from './readSections.ts'
import { trimWindow } from './trimWindow.ts'
import { appendGroup, reshow, type Window, windowTokens } from './window.ts'
import type { Part } from './windowParts.ts'

/** Estimated tokens that must have been reported on before the estimates are corrected by it. */
const MIN_CALIBRATED = 500

/**
 * Adds the next messages of the branch, and trims the window when it is over a limit by them. So its state depends on
 * nothing but the messages so far, and the start of a request stays the same from one request to the next, as the
 * caches of providers want it.
 */
export function addGroup(window: Window, { type, messages }: MessageGroup): void {
  const [first] = messages
  if (first === undefined) return
  calibrate(window, first)
  const before = window.tokens
  const group = appendGroup(window, type === 'user' ? 'user' : 'step', messages)
  for (const part of group.parts) supersede(window, part)
  window.growth.since += window.tokens - before
  const untrimmed = windowTokens(window)
  trimWindow(window)
  // The next request is shorter than the growth since the last one says.
  if (windowTokens(window) < untrimmed) window.growth.last = null
}

function calibrate(window: Window, { role, usage }: Message): void {
  const reported = usage?.input_tokens ?? 0
  if (role !== 'assistant' || reported <= 0) return
  const { growth } = window
  if (growth.last !== null && reported > growth.last && growth.since > 0) {
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
function supersede(window: Window, part: Part): void {
  const { message, call, shown } = part
  if (message.role !== 'tool' || message.ok === false || (message.name ?? call?.name) !== 'read') return
  const paths = new Set(parseReadSections(message.content).map(({ path }) => path))
  // A result that is itself cut for the model stands for nothing else.
  const coverage = shown === message.content ? readCoverage(message.content, call?.arguments ?? '') : []
  for (const path of paths) {
    const later = coverage.filter((each) => each.path === path)
    const earlier = (window.reads.get(path) ?? []).filter((each) => each.isShown)
    if (later.length > 0)
      for (const each of earlier) reshow(window, each, { later: [...each.later, ...later] })
    const left = earlier.filter((each) => each.shown.includes(`--- ${path} lines `))
    window.reads.set(path, [...left, part])
  }
}
