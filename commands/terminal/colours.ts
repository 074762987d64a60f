import type { ChalkInstance } from 'chalk'
import type { CommandContext } from '../context.ts'

/** The few styles that the program uses; each gives its text back unchanged where colours are off. */
export type Colours = Pick<ChalkInstance, 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'>

/** Whether a stream gets colours: what `--color` says, else only a terminal, and not with `NO_COLOR`. */
export function hasColours(
  { globals, env, terminals }: Pick<CommandContext, 'globals' | 'env' | 'terminals'>,
  stream: 'stdout' | 'stderr',
): boolean {
  if (globals.color !== 'auto') return globals.color === 'always'
  return terminals[stream] && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
}

/** Makes the colours of one stream. Chalk is loaded here, so that plumbing never pays for it. */
export async function makeColours(context: CommandContext, stream: 'stdout' | 'stderr'): Promise<Colours> {
  const { Chalk } = await import('chalk')
  return new Chalk({ level: hasColours(context, stream) ? 1 : 0 })
}
