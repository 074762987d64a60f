import { makeOwnSpelling } from '../workspace/ownSpelling.ts'
import { type Decision, decideRead, decideWrite } from '../workspace/policy.ts'
import { pathNotFound, type ResolvedPath, resolvePath } from '../workspace/realPath.ts'
import { ToolFailure } from './outcome.ts'
import type { ToolContext } from './tool.ts'

/** Resolves a path once and checks it for reading; what is opened is its `real`. Throws with the refusal. */
export async function readablePath(asked: string, context: ToolContext): Promise<ResolvedPath> {
  // A path outside is refused before it is said whether it exists.
  const place = await resolveOwn(asked, context)
  allowOnly(decideRead(place, context.policy))
  if (!place.exists) throw pathNotFound(place)
  return place
}

/** Resolves a path once and checks it for writing; what is published is its `real`. Throws with the refusal. */
export async function writablePath(asked: string, context: ToolContext): Promise<ResolvedPath> {
  if (/[/\\]$/.test(asked)) throw new ToolFailure(`'${asked}' names a folder, since it ends in a separator`)
  const place = await resolveOwn(asked, context)
  allowOnly(decideWrite(place, context.policy))
  return place
}

/**
 * Makes the question whether a file that a walk has found may be shown. A walk leaves out by name; this asks once more, by
 * all that reading the file alone would be asked.
 */
export function makeMayShow({ policy }: ToolContext): (file: string) => Promise<boolean> {
  const spell = makeOwnSpelling(policy.cassHome)
  return async (file) => decideRead({ lexical: file, real: await spell(file) }, policy).type === 'allow'
}

async function resolveOwn(asked: string, context: ToolContext): Promise<ResolvedPath> {
  const place = await resolvePath(asked, context)
  return { ...place, real: await makeOwnSpelling(context.policy.cassHome)(place.real) }
}

function allowOnly(decision: Decision): void {
  if (decision.type !== 'allow') throw new ToolFailure(decision.reason)
}
