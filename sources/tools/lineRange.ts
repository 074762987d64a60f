import { ToolFailure } from './outcome.ts'

/** Lines from `start` on, 1-indexed; `end` is included, null means to the end of the file. */
export interface LineRange {
  readonly start: number
  readonly end: number | null
}

/** Parses `35-60`, `35-`, `-60`, `35`, with blanks anywhere; nothing means the whole file. Throws for anything else. */
export function parseLineRange(text: string | number | undefined): LineRange {
  const plain = String(text ?? '').trim()
  if (plain === '') return { start: 1, end: null }
  const match = /^(\d*)(\s*-\s*(\d*))?$/.exec(plain)
  const [, first = '', dash, last = ''] = match ?? []
  const start = first === '' ? 1 : Number(first)
  const end = dash === undefined ? start : last === '' ? null : Number(last)
  const isEmpty = first === '' && last === ''
  if (
    match === null ||
    isEmpty ||
    start < 1 ||
    !Number.isSafeInteger(start) ||
    (end !== null && end < start)
  ) {
    throw new ToolFailure(`invalid line range \`${text}\`: use 35-60, 35-, -60 or 35, counted from 1`)
  }
  return { start, end }
}
