import { isJsonObject, tryParseJson } from '../conversation/json.ts'

/** One file in a result of the `read` tool. `text` is the whole section with its header. */
export interface ReadSection {
  readonly path: string
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The lines that a read shows for sure; `end` is infinite when it went to the end of the file. */
export interface ReadCoverage {
  readonly path: string
  readonly start: number
  readonly end: number
}

const HEADER = /^--- (.+) lines (\d+)-(\d+) ---$/gm
const LINE = /^ *(\d+) \| /gm

/** The sections of a result of `read`, in order. Lines of the files themselves start with a number, so none is taken for a header. */
export function parseReadSections(content: string): ReadonlyArray<ReadSection> {
  const headers = [...content.matchAll(HEADER)]
  return headers.map((header, index) => ({
    path: header[1] ?? '',
    start: Number(header[2]),
    end: Number(header[3]),
    text: content.slice(header.index, headers[index + 1]?.index ?? content.length),
  }))
}

/**
 * What a read result stands for. Read to its end, a file is known from there on, also when it has shrunk since; a
 * section that was cut counts only as far as its lines can be seen.
 */
export function readCoverage(content: string, args: string): ReadonlyArray<ReadCoverage> {
  const sections = parseReadSections(content)
  const asked = requestedRanges(args)
  return sections.map(({ path, start, end, text }, index) => {
    if (text.includes('truncated by Cass')) return { path, ...observedLines(text) }
    const range = asked.length === sections.length ? asked[index] : undefined
    const toTheEnd = range !== undefined && (range.end === null || range.end > end)
    return { path, start, end: toTheEnd ? Number.POSITIVE_INFINITY : end }
  })
}

/** A read result in which each section that a later read covers is one line; the same text when none is. */
export function supersedeReads(content: string, later: ReadonlyArray<ReadCoverage>): string {
  let text = content
  for (const section of parseReadSections(content)) {
    const covered = later.some(
      ({ path, start, end }) => path === section.path && start <= section.start && end >= section.end,
    )
    if (!covered) continue
    const range = `${section.path} lines ${section.start}-${section.end}`
    const note = `[Cass omitted this earlier read output: ${range}. A later read of the same lines is below.]\n`
    if (note.length < section.text.length) text = text.replace(section.text, () => note)
  }
  return text
}

/** The files and ranges that a call of `read` asks for; empty when the arguments do not say. */
function requestedRanges(args: string): ReadonlyArray<{ readonly end: number | null }> {
  const input = tryParseJson(args)
  if (!isJsonObject(input) || !Array.isArray(input.files)) return []
  return input.files.map((file: unknown) => {
    const lines = isJsonObject(file) ? String(file.lines ?? '') : ''
    const end = /^\s*(?:\d*\s*-\s*)?(\d+)\s*$/.exec(lines)?.[1]
    return { end: end === undefined ? null : Number(end) }
  })
}

function observedLines(text: string): { start: number; end: number } {
  const numbers = [...text.matchAll(LINE)].map((line) => Number(line[1]))
  const first = numbers[0]
  const last = numbers.at(-1)
  // Nothing seen: a range that covers nothing.
  return first === undefined || last === undefined ? { start: 1, end: 0 } : { start: first, end: last }
}
