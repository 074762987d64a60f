import type { ToolCall } from '../../conversation/message.ts'
import { type Fields, readText, tryParseFields, tryParseJson } from './fields.ts'

interface Slot {
  readonly index: number | null
  id: string
  name: string
  arguments: string
}

/** Puts tool calls together from their pieces. */
export class ToolCallBuilder {
  readonly #slots: Array<Slot> = []
  /** Which call the piece at a place of the list belonged to last time. */
  readonly #places = new Map<number, Slot>()
  #last: Slot | null = null

  #size = 0

  /** Characters of all arguments. */
  get size(): number {
    return this.#size
  }

  /** Takes the `tool_calls` of one delta or message. */
  push(pieces: unknown): void {
    if (!Array.isArray(pieces)) return
    pieces.forEach((piece: unknown, place) => {
      const fields = tryParseFields(piece)
      if (fields !== null) this.#pushPiece(fields, pieces.length > 1 ? place : null)
    })
  }

  /** True when there are calls and all of them are whole: with a name and arguments that are a JSON object. */
  isComplete(): boolean {
    return this.#slots.length > 0 && this.#slots.every((slot) => slot.name !== '' && hasWholeArguments(slot))
  }

  /** The calls in the model's order; those without a name are no calls. Each gets an id of its own. */
  finish(makeCallId: () => string): ReadonlyArray<ToolCall> {
    const taken = new Set<string>()
    return this.#inOrder()
      .filter((slot) => slot.name !== '')
      .map(({ id, name, arguments: text }) => {
        const ownId = id === '' || taken.has(id) ? makeCallId() : id
        taken.add(ownId)
        return { id: ownId, name, arguments: text }
      })
  }

  #pushPiece(piece: Fields, place: number | null): void {
    const call = tryParseFields(piece.function)
    const id = readText(piece.id)
    const name = readText(call?.name)
    const index = typeof piece.index === 'number' ? piece.index : null
    const slot = this.#find({ index, id, name, place }) ?? this.#add(index)
    this.#last = slot
    if (place !== null) this.#places.set(place, slot)
    // Later pieces may repeat the id or name, or carry them empty or null: the first that holds something counts.
    if (slot.id === '') slot.id = id
    if (slot.name === '') slot.name = name
    const text = call?.arguments
    const added =
      typeof text === 'string' || text === undefined || text === null ? readText(text) : JSON.stringify(text)
    slot.arguments += added
    this.#size += added.length
  }

  #find(piece: { index: number | null; id: string; name: string; place: number | null }): Slot | null {
    const { index, id, name, place } = piece
    const known = id === '' ? undefined : this.#slots.find((slot) => slot.id === id && slot.index === index)
    if (known !== undefined && !startsAnother(known, piece)) return known
    const candidate =
      index !== null
        ? this.#slots.findLast((slot) => slot.index === index)
        : place !== null
          ? this.#places.get(place)
          : this.#last
    if (candidate === undefined || candidate === null) return null
    if (index === null && id !== '' && candidate.id !== '' && id !== candidate.id && name !== '') return null
    return startsAnother(candidate, piece) ? null : candidate
  }

  #add(index: number | null): Slot {
    const slot = { index, id: '', name: '', arguments: '' }
    this.#slots.push(slot)
    return slot
  }

  #inOrder(): ReadonlyArray<Slot> {
    const slots = [...this.#slots]
    if (slots.some((slot) => slot.index === null)) return slots
    return slots.sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
  }
}

/**
 * Some servers give every parallel call the same index, or none: a piece with a name, behind a call that is
 * whole already, begins the next call.
 */
function startsAnother(slot: Slot, { id, name }: { id: string; name: string }): boolean {
  if (name === '' || slot.name === '' || !hasWholeArguments(slot)) return false
  return id === '' || slot.id === '' || id !== slot.id
}

function hasWholeArguments(slot: Slot): boolean {
  return tryParseFields(tryParseJson(slot.arguments)) !== null
}
