/** The known field that a mistyped one was meant to be: at most two slips away, and fewer than half of its letters. */
export function nearestField(typed: string, known: ReadonlyArray<string>): string | null {
  const ranked = known
    .map((name) => ({ name, slips: slipsBetween(typed.toLowerCase(), name) }))
    .filter(({ name, slips }) => slips <= 2 && slips * 2 < name.length)
    .sort((a, b) => a.slips - b.slips)
  return ranked[0]?.name ?? null
}

/** How many letters were left out, added, replaced, or swapped with their neighbour. */
function slipsBetween(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[other.length] ?? 0
}
