import { CassError } from '../errors.ts'
import { isDestructive } from '../workspace/destructive.ts'
import { type AccessMode, availabilityOf, type Decision, decide } from '../workspace/policy.ts'
import { type ResolvedPath, resolvePath } from '../workspace/realPath.ts'
import { edit } from './edit.ts'
import { grep } from './grep.ts'
import { ls } from './ls.ts'
import { fail } from './outcome.ts'
import { read } from './read.ts'
import { shell } from './shell.ts'
import type { Tool, ToolContext, ToolOutcome } from './tool.ts'
import { write } from './write.ts'

/** All tools, in the order in which they are offered. */
export const tools: ReadonlyArray<Tool> = [ls, read, grep, write, edit, shell]

/** A call as the model made it; `input` are its parsed arguments, of any shape. */
export interface RequestedCall {
  readonly name: string
  readonly input: unknown
}

/** The tools that a model is offered in a mode. */
export function toolsFor(mode: AccessMode): ReadonlyArray<Tool> {
  return tools.filter((tool) => availabilityOf(tool.name, mode) !== 'unavailable')
}

/**
 * Decides a call before it runs: by the mode, and by every path in it as it really is. Arguments that are missing or
 * of another type decide nothing here; the tool refuses them itself. The tools check again what they open.
 */
export async function decideCall(
  call: RequestedCall,
  context: Pick<ToolContext, 'cwd' | 'home' | 'policy'>,
): Promise<Decision> {
  const command = textField(call.input, 'command')
  const paths: ResolvedPath[] = []
  for (const asked of pathsOf(call)) {
    const resolved = await tryResolve(asked, context)
    if (resolved !== null) paths.push(resolved)
  }
  return decide({ tool: call.name, paths, command }, context.policy)
}

/** Whether a call may delete or overwrite something, for `confirm_destructive_operations`. */
export async function isDestructiveCall(
  call: RequestedCall,
  context: Pick<ToolContext, 'cwd' | 'home'>,
): Promise<boolean> {
  switch (call.name) {
    case 'edit':
      return isDestructive({ tool: 'edit' })
    case 'write': {
      const target = await tryResolve(textField(call.input, 'path') ?? '', context)
      return isDestructive({ tool: 'write', overwrites: target?.exists === true })
    }
    case 'shell': {
      const dialect = process.platform === 'win32' ? 'windows' : 'sh'
      return isDestructive({ tool: 'shell', command: textField(call.input, 'command') ?? '', dialect })
    }
    default:
      return false
  }
}

/**
 * Decides a call and runs it. One that needs approval runs only when `approved`; it is the caller that has asked the
 * user about exactly this call. Rejects only when the context's signal is aborted.
 */
export async function runCall(
  call: RequestedCall,
  context: ToolContext,
  approved: boolean,
): Promise<ToolOutcome> {
  const tool = tools.find((each) => each.name === call.name)
  if (tool === undefined) return fail(`unknown tool \`${call.name}\``)
  const decision = await decideCall(call, context)
  if (decision.type === 'deny') return fail(decision.reason)
  if (decision.type === 'ask' && !approved) {
    return fail(`approval required before executing \`${call.name}\`: ${decision.reason}`)
  }
  return await tool.run(call.input, context)
}

/** Every path that a call names, also the default one. */
function pathsOf({ name, input }: RequestedCall): ReadonlyArray<string> {
  switch (name) {
    case 'ls':
      return [textField(input, 'path') ?? '.']
    case 'read':
      return listField(input, 'files').flatMap((file) => textField(file, 'path') ?? [])
    case 'grep': {
      const paths = listField(input, 'paths').filter((each) => typeof each === 'string')
      return paths.length === 0 ? ['.'] : paths
    }
    case 'write':
    case 'edit':
      return [textField(input, 'path') ?? []].flat()
    default:
      return []
  }
}

function field(input: unknown, key: string): unknown {
  return typeof input === 'object' && input !== null ? new Map(Object.entries(input)).get(key) : undefined
}

function textField(input: unknown, key: string): string | null {
  const value = field(input, key)
  return typeof value === 'string' ? value : null
}

function listField(input: unknown, key: string): ReadonlyArray<unknown> {
  const value = field(input, key)
  return Array.isArray(value) ? value : []
}

/** Null for what no path can be made of: the tool itself says what is wrong with it. */
async function tryResolve(
  asked: string,
  base: Pick<ToolContext, 'cwd' | 'home'>,
): Promise<ResolvedPath | null> {
  try {
    return await resolvePath(asked, base)
  } catch (error) {
    if (error instanceof CassError) return null
    throw error
  }
}
