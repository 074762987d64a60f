import { cutAt } from './limits.ts'

export interface WindowSizes {
  readonly head: number
  readonly tail: number
}

/** The beginning and the end of a stream of text of any length, in bounded memory. */
export class OutputWindow {
  private readonly sizes: WindowSizes
  private head = ''
  private tail: string[] = []
  private tailLength = 0
  private total = 0

  constructor(sizes: WindowSizes) {
    this.sizes = sizes
  }

  push(text: string): void {
    this.total += text.length
    const room = this.sizes.head - this.head.length
    const taken = room > 0 && this.tailLength === 0 ? cutAt(text, room) : ''
    this.head += taken
    const rest = text.slice(taken.length)
    if (rest === '') return
    this.tail.push(rest)
    this.tailLength += rest.length
    // Joined now and then only, so that many small pieces stay cheap.
    if (this.tailLength > this.sizes.tail * 4) this.trim()
  }

  /** What was kept; a line in its middle says how much was left out. */
  toString(): string {
    this.trim()
    const tail = this.tail.join('')
    const omitted = this.total - this.head.length - tail.length
    if (omitted <= 0) return this.head + tail
    return `${this.head}\n… truncated by Cass: ${omitted} of ${this.total} characters are left out here …\n${tail}`
  }

  private trim(): void {
    const all = this.tail.join('')
    let kept = all.length > this.sizes.tail ? all.slice(-this.sizes.tail) : all
    const first = kept.charCodeAt(0)
    if (first >= 0xdc00 && first <= 0xdfff && kept.length < all.length) kept = kept.slice(1)
    this.tail = [kept]
    this.tailLength = kept.length
  }
}
