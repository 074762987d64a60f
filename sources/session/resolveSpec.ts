import { parseSelector } from '../conversation/selector.ts'
import { findBranch } from './findBranch.ts'
import { locatePlace } from './locatePlace.ts'
import type { Place } from './place.ts'

/** The full id that a selector means: a branch alone is its chat id, everything else a checkpoint. */
export async function resolveSpec(
  place: Place,
  spec: string,
): Promise<{ readonly kind: 'branch' | 'checkpoint'; readonly id: string }> {
  const selector = parseSelector(spec)
  if (selector.type === 'branch') return { kind: 'branch', id: findBranch(place, selector.branch).chat_id }
  return { kind: 'checkpoint', id: locatePlace(place, spec).checkpoint.id }
}
