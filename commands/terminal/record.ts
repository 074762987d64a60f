import type { ShownCheckpoint } from '../../sources/session/showCheckpoint.ts'

/** A record in full, as text: what was said, and each call with its arguments. */
export function formatRecord(record: ShownCheckpoint['record']): string {
  switch (record.type) {
    case 'meta':
      return JSON.stringify(record, null, 2)
    case 'assistant':
      return joinParts([
        record.reasoning === '' ? '' : `(reasoning)\n${record.reasoning}`,
        record.content,
        ...record.tool_calls.map(
          (call) => `call ${call.name} ${call.id}\n${formatArguments(call.arguments)}`,
        ),
      ])
    case 'tool':
      return `${record.name} ${record.ok ? '✓' : '✗'}\n${record.content}`
    case 'system':
    case 'user':
      return record.content
  }
}

/** The arguments of a call on one line: what it is about, not every byte of it. */
export function formatCall(name: string, callArguments: unknown): string {
  if (typeof callArguments !== 'object' || callArguments === null) return name
  const facts: Readonly<Record<string, unknown>> = { ...callArguments }
  const subject = [facts.command, facts.path, queryOf(facts), pathsOf(facts.files)].find(
    (value) => typeof value === 'string' && value.trim() !== '',
  )
  // Without a path, the folder itself is listed.
  if (name === 'ls' && subject === undefined) return 'ls .'
  return typeof subject === 'string' ? `${name} ${firstLine(subject)}` : name
}

// What is searched for, and where if that was said.
function queryOf({ query, paths }: Readonly<Record<string, unknown>>): string | null {
  if (typeof query !== 'string') return null
  const places = Array.isArray(paths) ? paths.map(String).filter((place) => place !== '.') : []
  const [first] = places
  const where =
    first === undefined ? '' : ` in ${first}${places.length > 1 ? ` and ${places.length - 1} more` : ''}`
  return `${JSON.stringify(query)}${where}`
}

/** What a shell command's result says besides its output; null when it is no such result. */
export function readShellEnd(
  content: string,
): { readonly exitCode: number; readonly output: ReadonlyArray<string> } | null {
  const lines = content.split('\n')
  // At most two lines of ours follow it.
  const at = lines.findLastIndex((line) => /^exit code: -?\d+$/.test(line))
  if (at === -1 || lines.length - at > 3) return null
  const output = lines
    .slice(0, at)
    .filter((line) => line.trim() !== '' && !/^(?:stdout:|stderr:|\(no output\))$/.test(line))
  return { exitCode: Number((lines[at] ?? '').slice('exit code: '.length)), output }
}

// The files of one `read`: the first by name, the others by number.
function pathsOf(files: unknown): string | null {
  if (!Array.isArray(files)) return null
  const paths = files.flatMap((file: unknown) =>
    typeof file === 'object' && file !== null && 'path' in file ? [String(file.path)] : [],
  )
  const [first] = paths
  return first === undefined || paths.length === 1 ? (first ?? null) : `${first} and ${paths.length - 1} more`
}

/** The first line of a text that is not blank. */
export function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? ''
  )
}

function formatArguments(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

function joinParts(parts: ReadonlyArray<string>): string {
  return parts.filter((part) => part !== '').join('\n\n')
}
