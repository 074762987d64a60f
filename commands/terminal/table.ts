import { cutToWidth, measureWidth, stripControls } from './text.ts'

type Cells = ReadonlyArray<ReadonlyArray<string>>

/** Room that the last column has at least. */
const leastRoom = 16
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Rows as a terminal shows them: two blanks between columns, times as the clock on the wall. Only the last column, the free
 * text, gives way to the width; what is still too wide does without the columns of `dropped`, the first of them first.
 */
export function alignRows(
  rows: Cells,
  { columns, dropped }: { readonly columns: number; readonly dropped: ReadonlyArray<number> },
): string {
  const cells = rows.map((row) =>
    row.map((cell, column) => {
      const text = stripControls(cell).replace(/[\t\n]+/g, ' ')
      return column < row.length - 1 ? shortenTime(text) : text
    }),
  )
  const gone = new Set<number>()
  let kept: Cells = cells
  for (const column of dropped) {
    if (fits(kept, columns)) break
    gone.add(column)
    kept = cells.map((row) => row.filter((_, index) => !gone.has(index)))
  }
  const widths = measureColumns(kept)
  const lines = kept.map((row) => {
    const start = row
      .slice(0, -1)
      .map((cell, column) => `${padTo(cell, widths[column] ?? 0)}  `)
      .join('')
    const room = Math.max(leastRoom, columns - measureWidth(start))
    return `${start}${cutToWidth(row.at(-1) ?? '', room)}`.trimEnd()
  })
  return `${lines.join('\n')}\n`
}

function fits(cells: Cells, columns: number): boolean {
  const widths = measureColumns(cells)
  const fixed = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
  return fixed + Math.min(leastRoom, widths.at(-1) ?? 0) <= columns
}

function measureColumns(cells: Cells): ReadonlyArray<number> {
  const widths: number[] = []
  for (const row of cells) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, measureWidth(cell))
    })
  }
  return widths
}

// Scripts get it in full and in UTC; a person looks for "this afternoon".
function shortenTime(text: string): string {
  if (!timestamp.test(text)) return text
  const time = new Date(text)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-')
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`
}

function padTo(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - measureWidth(cell)))
}
