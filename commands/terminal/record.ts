import type { CassRecord } from '../../sources/conversation/record.ts'

/** A record in full, as text: what was said, and each call with its arguments. */
export function formatRecord(record: CassRecord): string {
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
  const facts = callArguments as Readonly<Record<string, unknown>>
  const subject = [facts.command, facts.path, facts.file_path, facts.pattern].find(
    (value) => typeof value === 'string',
  )
  return typeof subject === 'string' ? `${name} ${firstLine(subject)}` : name
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
