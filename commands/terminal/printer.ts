import type { Writable } from 'node:stream'
import { stringifyJson } from '../../sources/conversation/json.ts'
import { alignRows } from './table.ts'
import { escapeCell, stripControls } from './text.ts'

/** One row of a list. The free text, if there is one, is the last cell. Null: not known. */
export type Row = ReadonlyArray<string | number | null>

/**
 * The only way to the two output streams. Data goes to stdout and is for programs, the rest goes to stderr and is for
 * people; what a terminal would obey is taken out where the stream is one.
 */
export interface Printer {
  /** One line (or several) of data. */
  data(text: string): void
  /** A piece of data without a line break of ours, as it streams in. */
  chunk(text: string): void
  /** Data whose colours are ours; what came from elsewhere in it was stripped before. */
  styled(text: string): void
  /**
   * A whole list: aligned on a terminal, TAB-separated in a pipe, NUL-ended with `-z`. A terminal that is too narrow does
   * without the columns of `dropped`, the first of them first.
   */
  records(rows: Iterable<Row>, layout?: { readonly dropped: ReadonlyArray<number> }): void
  /** One JSON document, or one line of JSON Lines. */
  json(value: unknown): void
  /** News for people; silenced by `--quiet`, like hints. */
  note(text: string): void
  /** Like a note, with colours that are ours; what came from elsewhere in it was stripped before. */
  progress(text: string): void
  /** A next step. */
  hint(text: string): void
  warn(text: string): void
  /** What went wrong and the next step; never silenced. */
  error(message: string, hint: string | null): void
  /** Where it went wrong, for those who asked for it. */
  trace(text: string): void
}

export interface PrinterOptions {
  readonly stdout: Writable
  readonly stderr: Writable
  readonly terminals: { readonly stdout: boolean; readonly stderr: boolean }
  readonly columns: number
  readonly quiet: boolean
  readonly nul: boolean
}

/** How much of a list is written at once, in characters. */
const pieceLength = 64 * 1024

/** Makes the printer of one command. */
export function makePrinter({ stdout, stderr, terminals, columns, quiet, nul }: PrinterOptions): Printer {
  const out = (text: string) => stdout.write(terminals.stdout ? stripControls(text) : text)
  const err = (text: string) => stderr.write(`${terminals.stderr ? stripControls(text) : text}\n`)
  const news = (text: string) => {
    if (!quiet) err(text)
  }
  return {
    data: (text) => out(text.endsWith('\n') ? text : `${text}\n`),
    chunk: (text) => out(text),
    styled: (text) => stdout.write(text),
    records(rows, { dropped } = { dropped: [] }) {
      if (!nul && terminals.stdout) {
        const cells = Array.from(rows, (row) => row.map(formatCell))
        if (cells.length > 0) out(alignRows(cells, { columns, dropped }))
        return
      }
      const format = nul ? formatCell : (cell: Row[number]) => escapeCell(formatCell(cell))
      // A list may have a hundred thousand rows, so they are not all kept as text.
      let text = ''
      for (const row of rows) {
        text += `${row.map(format).join('\t')}${nul ? '\0' : '\n'}`
        if (text.length < pieceLength) continue
        out(text)
        text = ''
      }
      if (text !== '') out(text)
    },
    json: (value) => stdout.write(`${stringifyForTerminals(value)}\n`),
    note: news,
    progress(text) {
      if (!quiet) stderr.write(`${text}\n`)
    },
    hint: (text) => news(`hint: ${text}`),
    warn: (text) => news(`warning: ${text}`),
    error(message, hint) {
      err(`error: ${message}`)
      if (hint !== null) err(`hint: ${hint}`)
    },
    trace: err,
  }
}

function formatCell(cell: string | number | null): string {
  return cell === null ? '' : String(cell)
}

/** JSON leaves DEL and the C1 controls as they are, and some terminals obey them; strict parsers refuse half surrogates. */
function stringifyForTerminals(value: unknown): string {
  return stringifyJson(value).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  )
}
