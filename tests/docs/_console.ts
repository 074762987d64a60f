import { spawn } from 'node:child_process'
import type { Block } from './_pages.ts'

/** A command of a `console` block, and the output that the page shows for it. */
export interface Example {
  readonly command: string
  readonly shown: ReadonlyArray<string>
  /** Of the command in the page, from 1. */
  readonly line: number
}

/**
 * The examples of a `console` block: a line that starts with `$ ` is a command, lines with `> ` directly behind it
 * continue it, all others are its output.
 */
export function examplesOf(block: Block): Example[] {
  const examples: Array<{ command: string; shown: string[]; line: number }> = []
  for (const [index, line] of block.text.replace(/\n$/, '').split('\n').entries()) {
    const last = examples.at(-1)
    if (line.startsWith('$ '))
      examples.push({ command: line.slice(2), shown: [], line: block.line + index + 1 })
    else if (last === undefined) throw new Error(`line ${block.line}: output without a command`)
    else if (line.startsWith('> ') && last.shown.length === 0) last.command += `\n${line.slice(2)}`
    else last.shown.push(line)
  }
  return examples
}

/** Runs commands one after the other in one shell; gives what each wrote to stdout and stderr, in that order. */
export async function runInShell(
  commands: ReadonlyArray<string>,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string[]> {
  const mark = '\u0001end\u0001'
  const script = commands.map((command) => `${command}\nprintf '${mark}'\n`).join('')
  const child = spawn('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return Buffer.concat(chunks).toString('utf8').split(mark).slice(0, commands.length)
}

/**
 * Whether an output is the one that a page shows. A line `...` stands for any lines, `…` for any rest of a line; blanks
 * count as one, since lists are aligned on a terminal and not in a pipe.
 */
export function isShown(shown: ReadonlyArray<string>, output: string): boolean {
  const pattern = shown.map((line) => (line === '...' ? '(?:.*\\n)*?' : `${patternOf(line)}\\n`)).join('')
  const lines = output === '' || output.endsWith('\n') ? output : `${output}\n`
  return new RegExp(`^${pattern}$`).test(lines.replace(/[ \t]+/g, ' ').replace(/ $/gm, ''))
}

function patternOf(line: string): string {
  return line
    .replace(/[ \t]+/g, ' ')
    .trimEnd()
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('…', '.*')
}

/** Puts one word for everything that differs from run to run. `places` are texts of this run and what pages call them. */
export function normalise(text: string, places: ReadonlyArray<readonly [string, string]>): string {
  return places
    .reduce((all, [here, shown]) => all.replaceAll(here, shown), text)
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, 'TIME')
    .replace(/\d{4}-\d\d-\d\d-\d{6}-[A-Za-z0-9_-]{4}/g, 'CHAT')
    .replace(/[\w.-]+-\d+-[0-9a-f]{16}\b/g, 'WRITER')
    .replace(/\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, 'ID')
    .replace(/\b[0-9a-f]{64}\b/g, 'HASH')
    .replace(/\b[0-9a-f]{16}\b/g, 'KEY')
    .replace(/\/[\w/.-]*\/cass-demo-[A-Za-z0-9]{6}/g, 'DEMO')
}
