import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { program, type Sandbox } from '../_cass.ts'

/** Whether a program can be called; in continuous integration everything has to be there (.ci/run installs it). */
export function canCall(name: string): boolean {
  return process.env.CI !== undefined || spawnSync(name, ['-V']).error === undefined
}

/** A program in a real terminal, which somebody types into. */
export interface Terminal {
  /** Types text as it is. */
  type(text: string): void
  /** Pastes text, with marks around it if the program asked for them. */
  paste(text: string): void
  /** Presses a key by tmux's name for it: `Enter`, `C-c`, `C-d`. */
  press(key: string): void
  /** Resolves with the screen when it holds the text, rejects with the screen after a long time without it. */
  see(text: string): Promise<string>
  /** Resolves when the last line of the screen is the chat's empty prompt. */
  seePrompt(): Promise<string>
  /** Resolves with the exit code of the program. */
  exit(): Promise<number>
  /** Ends everything. */
  close(): void
}

/**
 * Starts the built program in a terminal of its own, with exactly the environment of the sandbox. With `inShell` somebody
 * started it from a shell, which has job control.
 */
export function openTerminal(
  sandbox: Sandbox,
  args: ReadonlyArray<string>,
  { inShell = false }: { readonly inShell?: boolean } = {},
): Terminal {
  // A socket path has to be short.
  const folder = mkdtempSync('/tmp/cass-tmux-')
  const code = join(folder, 'code')
  const tmux = (...words: string[]) => {
    const result = spawnSync('tmux', ['-S', join(folder, 's'), '-f', '/dev/null', ...words], {
      encoding: 'utf8',
    })
    if (result.status !== 0) throw new Error(`tmux ${words.join(' ')}: ${result.stderr}`)
    return result.stdout
  }
  const env = Object.entries({ ...sandbox.env, TERM: 'screen' }).map(([name, value]) =>
    quote(`${name}=${value}`),
  )
  const command = [process.execPath, program, ...args].map(quote).join(' ')
  const start = `${command}; echo $? > ${quote(code)}`
  const line = inShell
    ? `env -i ${env.join(' ')} PS1='shell: ' bash --noprofile --norc -i`
    : `env -i ${env.join(' ')} ${start}; cat`
  tmux('new-session', '-d', '-x', '110', '-y', '40', '-c', sandbox.workspace, line)
  if (inShell) tmux('send-keys', '-l', `${start}\n`)
  const screen = () => tmux('capture-pane', '-p', '-S', '-200')
  return {
    type: (text) => void tmux('send-keys', '-l', text),
    paste(text) {
      tmux('set-buffer', '--', text)
      tmux('paste-buffer', '-p')
    },
    press: (key) => void tmux('send-keys', key),
    see: (text) =>
      until(
        () => (screen().includes(text) ? screen() : null),
        () => `'${text}' not in:\n${screen()}`,
      ),
    seePrompt: () => until(() => (/\n> ?$/.test(screen().trimEnd()) ? screen() : null), screen),
    exit: () => until(() => (existsSync(code) ? tryNumber(readFileSync(code, 'utf8')) : null), screen),
    close() {
      spawnSync('tmux', ['-S', join(folder, 's'), 'kill-server'])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

// A terminal tells nobody when it has painted: look again until it has, or until it is clear that it never will.
async function until<T>(look: () => T | null, describe: () => string): Promise<T> {
  for (let looks = 0; looks < 600; looks++) {
    const found = look()
    if (found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(describe())
}

function tryNumber(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
