import { createInterface } from 'node:readline'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { JobControl } from './jobControl.ts'
import { asChunk, markPastes, mayGoOn, PasteReader, type TerminalInput } from './pastes.ts'
import { shortenLines, stripControls } from './text.ts'

/**
 * The keyboard of one chat. The terminal echoes nothing by itself: what is typed while nobody asks is kept for the next
 * question, where it can be seen and changed.
 */
export interface Keyboard {
  /** The next message, or null when the user has left (Ctrl-D or Ctrl-C). Pasted lines are part of one message. */
  ask(prompt: string): Promise<string | null>
  /** Calls the listener at Ctrl-C while nobody asks. The function it gives ends that. */
  watch(listener: () => void): () => void
  /**
   * The keys that are pressed from now on, for somebody else who asks; a paste is no answer. `isTyping`: the user is in the
   * middle of a line, so that the next Enter may be meant for that.
   */
  borrow(): { readonly keys: Readable; readonly isTyping: boolean; release(): void }
  close(): void
}

export interface KeyboardOptions {
  readonly stdin: Readable
  readonly stderr: Writable
  readonly jobs: JobControl
}

const ctrlC = '\u0003'
const ctrlZ = '\u001a'
/** How long until a program that was not stopped goes on, in milliseconds. */
const retryMs = 300
/** How long the next piece of a paste may take, in milliseconds. */
const pieceMs = 25

/** Takes the keyboard over until `close`. */
export function openKeyboard({ stdin, stderr, jobs }: KeyboardOptions): Keyboard {
  const decoder = new StringDecoder('utf8')
  const ahead: string[] = []
  const pastes = makePastes()
  let history: string[] = []
  let isOver = false
  let reader: { read(chunk: string): void; end(): void; redraw(): void } | null = null
  let interrupt: (() => void) | null = null

  const acquire = () => {
    setRawMode(stdin, true)
    stderr.write(markPastes.on)
  }
  const leave = () => {
    setRawMode(stdin, false)
    stderr.write(markPastes.off)
  }
  let retry: NodeJS.Timeout | null = null
  const goOn = () => {
    if (retry !== null) clearTimeout(retry)
    retry = null
    // The shell had the terminal in between, which Node does not know.
    setRawMode(stdin, false)
    acquire()
    reader?.redraw()
  }
  const stopListening = jobs.onContinue(goOn)
  const stop = () => {
    leave()
    jobs.stop()
    // Where no shell could continue it, the system stops nothing.
    retry ??= setTimeout(goOn, retryMs)
  }
  // Gives what is left of a chunk when the keys that mean something at any time are gone.
  const obey = (chunk: string): string => {
    if (chunk.includes(ctrlC)) interrupt?.()
    if (chunk.includes(ctrlZ)) stop()
    return chunk.replaceAll(ctrlZ, '').replaceAll(ctrlC, interrupt === null ? ctrlC : '')
  }
  const onData = (bytes: Buffer | string) => {
    const chunk = typeof bytes === 'string' ? bytes : decoder.write(bytes)
    if (reader !== null) reader.read(chunk)
    else if (chunk !== '') ahead.push(obey(chunk))
  }
  const onEnd = () => {
    isOver = true
    reader?.end()
  }
  stdin.on('data', onData)
  stdin.once('end', onEnd)
  acquire()
  stdin.resume()

  return {
    async ask(prompt) {
      if (isOver && ahead.length === 0) return null
      const keys = new PassThrough()
      const lines = createInterface({ input: keys, output: stderr, prompt, history, terminal: true })
      const filter = new PasteReader({ escIsKey: false })
      let piece = ''
      let timer: NodeJS.Timeout | null = null
      return await new Promise<string | null>((resolve) => {
        let isAsking = true
        const finish = (line: string | null) => {
          if (!isAsking) return
          isAsking = false
          reader = null
          if (timer !== null) clearTimeout(timer)
          lines.close()
          // The cursor still stands behind the prompt.
          if (line === null) stderr.write('\n')
          resolve(line)
        }
        const enter = ({ type, text }: TerminalInput) => {
          if (!isAsking) ahead.push(asChunk({ type, text }))
          else if (type === 'paste') lines.write(pastes.show(text))
          // Not written to the stream, which would hand it over later, when the question may be answered.
          else keys.emit('data', text)
        }
        const flush = () => {
          timer = null
          const text = piece
          piece = ''
          for (const input of filter.read(text)) enter(input)
        }
        lines.on('history', (known) => {
          history = known
        })
        lines.once('line', (line) => {
          const { message, shown } = pastes.expand(line)
          if (shown !== '') stderr.write(shown)
          finish(message)
        })
        lines.on('SIGINT', () => finish(null))
        lines.on('SIGTSTP', stop)
        lines.once('close', () => finish(null))
        lines.prompt()
        reader = {
          read(chunk) {
            piece += chunk
            if (timer !== null) clearTimeout(timer)
            if (mayGoOn(piece)) timer = setTimeout(flush, pieceMs)
            else flush()
          },
          end() {
            flush()
            finish(null)
          },
          redraw: () => lines.prompt(true),
        }
        for (const chunk of ahead.splice(0)) {
          if (isAsking) for (const input of filter.read(chunk)) enter(input)
          else ahead.push(chunk)
        }
        if (isOver) finish(null)
      })
    },
    watch(listener) {
      interrupt = listener
      return () => {
        interrupt = null
      }
    },
    borrow() {
      const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
      const filter = new PasteReader({ escIsKey: true })
      reader = {
        read(chunk) {
          for (const input of filter.read(chunk.replaceAll(ctrlZ, ''))) {
            if (input.type === 'paste') ahead.push(asChunk(input))
            else keys.write(input.text)
          }
          obey(chunk)
        },
        end: () => keys.end(),
        redraw() {},
      }
      return {
        keys,
        isTyping: ahead.length > 0 && !/[\r\n]$/.test(ahead.at(-1) ?? ''),
        release() {
          reader = null
          keys.destroy()
        },
      }
    },
    close() {
      stopListening()
      if (retry !== null) clearTimeout(retry)
      stdin.off('data', onData)
      stdin.off('end', onEnd)
      stdin.pause()
      leave()
    },
  }
}

function setRawMode(stdin: Readable, isRaw: boolean): void {
  if ('setRawMode' in stdin && typeof stdin.setRawMode === 'function') stdin.setRawMode(isRaw)
}

/** Pasted lines: a line has no room for them, so a word stands for them there. */
function makePastes() {
  const kept = new Map<string, string>()
  return {
    /** What stands in the line. */
    show(text: string): string {
      const clean = stripControls(text.replace(/\r\n?/g, '\n'))
      const lines = clean.replace(/\n+$/, '').split('\n')
      if (lines.length === 1) return lines[0] ?? ''
      const word = `[pasted ${lines.length} lines #${kept.size + 1}]`
      kept.set(word, clean)
      return word
    },
    /** The message that a line means, and its pasted lines as they are shown below it. */
    expand(line: string): { readonly message: string; readonly shown: string } {
      const used: string[] = []
      const message = line.replace(/\[pasted \d+ lines #\d+\]/g, (word) => {
        const text = kept.get(word)
        if (text === undefined) return word
        used.push(...text.replace(/\n+$/, '').split('\n'))
        return text
      })
      return {
        message,
        shown: shortenLines(used, 6)
          .map((shown) => `  │ ${shown}\n`)
          .join(''),
      }
    },
  }
}
