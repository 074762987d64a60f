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
  const subject = [facts.command, facts.path, facts.pattern, pathsOf(facts.files)].find(
    (value) => typeof value === 'string',
  )
  return typeof subject === 'string' ? `${name} ${firstLine(subject)}` : name
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
