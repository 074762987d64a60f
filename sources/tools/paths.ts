import { type CheckedPath, type Decision, decideRead, decideWrite } from '../workspace/policy.ts'
import { type ResolvedPath, resolveExisting, resolveForCreate } from '../workspace/realPath.ts'
import { ToolFailure } from './outcome.ts'
import type { ToolContext } from './tool.ts'

/** Resolves a path once and checks it for reading; what is opened is its `real`. Throws with the refusal. */
export async function readablePath(asked: string, context: ToolContext): Promise<ResolvedPath> {
  // A path outside is refused before it is said whether it exists.
  const place = await resolveForCreate(asked, context)
  allowOnly(decideRead(place, context.policy))
  return place.exists ? place : await resolveExisting(asked, context)
}

/** Resolves a path once and checks it for writing; what is published is its `real`. Throws with the refusal. */
export async function writablePath(asked: string, context: ToolContext): Promise<ResolvedPath> {
  if (/[/\\]$/.test(asked)) throw new ToolFailure(`'${asked}' names a folder, since it ends in a separator`)
  const place: ResolvedPath & CheckedPath = await resolveForCreate(asked, context)
  allowOnly(decideWrite(place, context.policy))
  return place
}

function allowOnly(decision: Decision): void {
  if (decision.type !== 'allow') throw new ToolFailure(decision.reason)
}
