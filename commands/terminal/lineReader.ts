import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** Reads lines from a terminal, one question at a time; between questions the terminal belongs to others. */
export interface LineReader {
  /** The next line, or null when the user has left (Ctrl-D or Ctrl-C). */
  ask(prompt: string): Promise<string | null>
}

/** Makes a reader. Lines that were pasted together are kept for the next questions. */
export function makeLineReader({
  stdin,
  stderr,
}: {
  readonly stdin: Readable
  readonly stderr: Writable
}): LineReader {
  const waiting: string[] = []
  let history: string[] = []
  return {
    async ask(prompt) {
      const ready = waiting.shift()
      if (ready !== undefined) {
        stderr.write(`${prompt}${ready}\n`)
        return ready
      }
      const reader = createInterface({ input: stdin, output: stderr, prompt, history, terminal: true })
      reader.on('history', (lines) => {
        history = lines
      })
      reader.on('line', (line) => waiting.push(line))
      reader.on('SIGINT', () => reader.close())
      await new Promise<void>((resolve) => {
        // The rest of a paste arrives in the same tick as its first line.
        reader.once('line', () => setImmediate(resolve))
        reader.once('close', resolve)
        reader.prompt()
      })
      // It takes its listeners off the terminal by itself, so none of them may be removed here.
      reader.close()
      return waiting.shift() ?? null
    },
  }
}
