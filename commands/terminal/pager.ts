import { spawn } from 'node:child_process'

/**
 * The pager to use, or null for none: `CASS_PAGER`, then the setting, then `PAGER`, then `less`. Empty, `cat` and
 * `false` mean none.
 */
export function choosePager({
  env,
  setting,
}: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly setting: string | false | null
}): string | null {
  const chosen = env.CASS_PAGER ?? setting ?? env.PAGER ?? 'less'
  return chosen === false || chosen.trim() === '' || chosen.trim() === 'cat' ? null : chosen
}

/** Some pagers end with an error when they are left by Ctrl-C: whoever does that has read something. */
const readAfterMs = 2000

/**
 * Shows text through a pager and waits until the user has left it. Gives false, having shown nothing, when the pager
 * cannot be started, or fails before anybody could have read.
 */
export async function showInPager(
  text: string,
  { pager, env }: { readonly pager: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<boolean> {
  const started = performance.now()
  const child = spawn(pager, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    // Colours as they are, and gone at once when all fits on the screen: what git does.
    env: { LESS: 'FRX', ...env },
  })
  // The user may leave before everything is read.
  child.stdin.on('error', () => {})
  child.stdin.end(text)
  return await new Promise((resolve) => {
    child.on('error', () => resolve(false))
    // No code: a signal ended it, which was a person's wish. 127: the shell found no such program.
    child.on('close', (code) => {
      const isFailure = code !== null && code !== 0 && performance.now() - started < readAfterMs
      resolve(code !== 127 && !isFailure)
    })
  })
}
