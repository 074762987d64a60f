/** What came from a terminal: keys as they were pressed, or text that was pasted. */
export type TerminalInput = { readonly type: 'keys' | 'paste'; readonly text: string }

/** What a terminal puts around a paste once it was asked to. */
const esc = '\u001b'
const begin = '\u001b[200~'
const end = '\u001b[201~'

/** Asks the terminal to mark pastes, and to stop it. */
export const markPastes = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

/** The bytes that would give this input. */
export function asChunk({ type, text }: TerminalInput): string {
  return type === 'paste' ? `${begin}${text}${end}` : text
}

/** Tells pasted text from keys, over any cut into chunks. Terminals that mark no pastes give all their lines at once. */
export class PasteReader {
  /** A paste whose end has not come yet. */
  #open: string | null = null
  /** What may be the beginning of a mark. */
  #rest = ''
  readonly #escIsKey: boolean

  /** `escIsKey`: Esc alone means something, so that it cannot wait for what comes behind it. */
  constructor({ escIsKey }: { readonly escIsKey: boolean }) {
    this.#escIsKey = escIsKey
  }

  read(chunk: string): TerminalInput[] {
    if (chunk === '') return []
    // An Esc that nothing came behind was the key, and that means nothing here.
    const text = (this.#rest === esc && !chunk.startsWith('[') ? '' : this.#rest) + chunk
    this.#rest = ''
    if (this.#open !== null) return this.#readPaste(this.#open + text)
    const start = text.indexOf(begin)
    if (start === -1) {
      const kept = lengthOfCutMark(text, this.#escIsKey ? 2 : 1)
      this.#rest = text.slice(text.length - kept)
      return splitKeys(text.slice(0, text.length - kept))
    }
    return [...splitKeys(text.slice(0, start)), ...this.#readPaste(text.slice(start + begin.length))]
  }

  #readPaste(text: string): TerminalInput[] {
    const stop = text.indexOf(end)
    if (stop === -1) {
      this.#open = text
      return []
    }
    this.#open = null
    const paste = { type: 'paste', text: text.slice(0, stop) } as const
    return [paste, ...this.read(text.slice(stop + end.length))]
  }
}

/** Whether more of the same paste may be on its way: terminals hand over a long text in several pieces. */
export function mayGoOn(chunk: string): boolean {
  return !chunk.includes(esc) && (chunk.length >= 1000 || splitKeys(chunk).some(isPaste))
}

function lengthOfCutMark(text: string, least: number): number {
  for (let length = begin.length - 1; length >= least; length--)
    if (text.endsWith(begin.slice(0, length))) return length
  return 0
}

// Nobody types a line break between two words within one read. Each Enter is a piece of its own.
function splitKeys(text: string): TerminalInput[] {
  const [, before = '', middle = '', after = ''] = /^([\r\n]*)([\s\S]*?)([\r\n]*)$/.exec(text) ?? []
  const breaks = (found: string) => (found.match(/\r\n|\r|\n/g) ?? []).map(keys)
  const type = /[\r\n]/.test(middle) ? 'paste' : 'keys'
  return [...breaks(before), ...(middle === '' ? [] : [{ type, text: middle } as const]), ...breaks(after)]
}

function keys(text: string): TerminalInput {
  return { type: 'keys', text }
}

function isPaste({ type }: TerminalInput): boolean {
  return type === 'paste'
}
