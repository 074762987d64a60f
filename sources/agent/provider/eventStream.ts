/**
 * Reads a server-sent event stream from bytes in any cut, and gives it back as frames in plain form:
 * `data: …\n\n`, one for each event. Servers differ in line ends, comments, blank lines between events and at
 * the end; behind this they are alike.
 */
export class EventStreamReader {
  /** True when `[DONE]` was read: nothing behind it counts. */
  isDone = false
  /** The beginning of the stream as text, to show when it was no event stream at all. */
  beginning = ''
  readonly #decoder = new TextDecoder()
  #line = ''
  #endsWithReturn = false
  #data: Array<string> = []

  /** Takes the next bytes and returns the frames that they completed. */
  push(bytes: Uint8Array): string {
    return this.#readText(this.#decoder.decode(bytes, { stream: true }))
  }

  /** The end of the bytes. An event that is whole counts also without a line end behind it. */
  end(): string {
    const frames = this.#readText(this.#decoder.decode())
    if (this.isDone) return frames
    const last = this.#line === '' ? '' : this.#readLine(this.#line)
    // What does not parse here is the torn end of a cut stream: the missing finish tells that better.
    return frames + last
  }

  #readText(text: string): string {
    if (this.beginning.length < 1_000) this.beginning += text.slice(0, 1_000)
    let frames = ''
    let start = 0
    for (let at = 0; at < text.length && !this.isDone; at++) {
      const code = text.charCodeAt(at)
      if (code !== 0x0a && code !== 0x0d) {
        this.#endsWithReturn = false
        continue
      }
      if (code === 0x0a && this.#endsWithReturn) {
        // The second half of CR LF, maybe in another network chunk than the first.
        this.#endsWithReturn = false
      } else {
        frames += this.#readLine(this.#line + text.slice(start, at))
        this.#line = ''
        this.#endsWithReturn = code === 0x0d
      }
      start = at + 1
    }
    if (!this.isDone) this.#line += text.slice(start)
    return frames
  }

  #readLine(line: string): string {
    if (line === '') return this.#flush()
    if (!line.startsWith('data:')) return ''
    const data = line.slice(line.startsWith('data: ') ? 6 : 5)
    if (data.trim() === '[DONE]') {
      this.isDone = true
      return `${this.#flush()}data: [DONE]\n\n`
    }
    this.#data.push(data)
    // Some servers put no blank line between events, others break one event into several data lines.
    return isJson(this.#data.join('\n')) ? this.#flush() : ''
  }

  #flush(): string {
    if (this.#data.length === 0) return ''
    const data = this.#data.join(' ')
    this.#data = []
    return data.trim() === '' ? '' : `data: ${data}\n\n`
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // Only asked whether it parses.
    return false
  }
}
