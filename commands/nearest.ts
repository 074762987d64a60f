/** The candidate that `word` was most likely meant to be, or null when none is near. */
export function findNearest(word: string, candidates: ReadonlyArray<string>): string | null {
  const typed = word.toLowerCase()
  // Two letters are near to everything.
  const letters = typed.replace(/^-+/, '').length
  if (letters < 3) return null
  const begun = candidates.find((candidate) => candidate.startsWith(typed))
  if (begun !== undefined) return begun
  let best: string | null = null
  let bestEdits = Math.floor(letters / 3) + 1
  for (const candidate of candidates) {
    const edits = countEdits(typed, candidate)
    if (edits < bestEdits) {
      best = candidate
      bestEdits = edits
    }
  }
  return best
}

// Insertions, deletions, replacements and swapped neighbours, each one edit.
function countEdits(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const cost = from[row - 1] === to[column - 1] ? 0 : 1
      let edits = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + cost)
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        edits = Math.min(edits, at(beforeLast, column - 2) + 1)
      }
      current.push(edits)
    }
    beforeLast = last
    last = current
  }
  return at(last, to.length)
}

function at(row: ReadonlyArray<number>, column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
