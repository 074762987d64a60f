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
      const line = await new Promise<string | null>((resolve) => {
        // The rest of a paste arrives in the same tick as its first line.
        reader.on('line', (text) => {
          waiting.push(text)
          // Once for a whole paste, or every line of it would be taken here.
          if (waiting.length === 1) setImmediate(() => resolve(waiting.shift() ?? null))
        })
        reader.on('close', () => resolve(waiting.shift() ?? null))
        reader.on('SIGINT', () => reader.close())
        reader.prompt()
      })
      reader.removeAllListeners('close')
      reader.close()
      return line
    },
  }
}
