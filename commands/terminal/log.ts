import type { LoggedRecord } from '../../sources/session/readBranchLog.ts'
import type { Colours } from './colours.ts'
import { firstLine, formatCall, formatRecord } from './record.ts'
import { stripControls } from './text.ts'

/** Records in full, each below a line that says what it is. Results of tools are shortened to what fits the eye. */
export function formatLog(records: ReadonlyArray<LoggedRecord>, colours: Colours): string {
  return records
    .map((record) => `${formatHeading(record, colours)}\n${indent(formatBody(record))}\n\n`)
    .join('')
}

/** A record on one line. */
export function formatLine(record: LoggedRecord, colours: Colours): string {
  const { title, detail } = describe(record)
  return `${colours.yellow(String(record.record_index))} ${colours.bold(title)} ${stripControls(detail)}`.trimEnd()
}

const shownLines = 12

function formatHeading(record: LoggedRecord, colours: Colours): string {
  const { title } = describe(record)
  const time = 'ts' in record && record.ts !== '' ? ` · ${record.ts}` : ''
  return `${colours.yellow(String(record.record_index))} ${colours.bold(title)}${colours.dim(stripControls(time))}`
}

function formatBody(record: LoggedRecord): string {
  // The line above says already which tool it was, and whether it did its work.
  const text = record.type === 'tool' ? record.content : formatRecord(record)
  const lines = stripControls(text).trimEnd().split('\n')
  if (record.type !== 'tool' || lines.length <= shownLines) return lines.join('\n')
  return [...lines.slice(0, shownLines), `… ${lines.length - shownLines} more lines, see \`cass show\``].join(
    '\n',
  )
}

function describe(record: LoggedRecord): { readonly title: string; readonly detail: string } {
  const title = record.notice === null ? titleOf(record) : `${titleOf(record)} (${record.notice})`
  switch (record.type) {
    case 'assistant': {
      const calls = record.tool_calls.map((call) => formatCall(call.name, call.arguments))
      return {
        title,
        detail: [firstLine(record.content), ...calls].filter((part) => part !== '').join(' · '),
      }
    }
    case 'tool':
    case 'system':
    case 'user':
      return { title, detail: firstLine(record.content) }
  }
}

function titleOf(record: LoggedRecord): string {
  return record.type === 'tool' ? `tool ${stripControls(record.name)} ${record.ok ? '✓' : '✗'}` : record.type
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n')
}
