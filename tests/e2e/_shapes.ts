import { expect } from 'vitest'

/** What a value must look like; a text names a kind of plain value, `?` behind it allows null. */
export type Shape = string | readonly [Shape] | { readonly [field: string]: Shape }

const plain: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  count: (value) => Number.isInteger(value) && Number(value) >= 0,
  flag: (value) => typeof value === 'boolean',
  time: (value) => typeof value === 'string' && rfc3339.test(value) && !Number.isNaN(Date.parse(value)),
  chat: (value) => typeof value === 'string' && /^\d{4}-\d{2}-\d{2}-\d{6}-[\w-]{4}$/.test(value),
  message: (value) => typeof value === 'string' && /^[0-9A-Z]{26}$/.test(value),
  sha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  any: () => true,
}

// UTC, as the contract has it.
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|\+00:00)$/

/** Fails unless the value has exactly the keys of the shape, each with a value of its kind. */
export function expectShape(value: unknown, shape: Shape): void {
  expect(problemsOf(value, shape, '$')).toEqual([])
}

function problemsOf(value: unknown, shape: Shape, at: string): string[] {
  if (typeof shape === 'string')
    return checkPlain(value, shape) ? [] : [`${at}: ${JSON.stringify(value)} is no ${shape}`]
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${at}: no list`]
    return value.flatMap((item, i) => problemsOf(item, shape[0], `${at}[${i}]`))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: no object`]
  const fields = shape as { readonly [field: string]: Shape }
  const missing = Object.keys(fields).filter((name) => !Object.hasOwn(value, name))
  const extra = Object.keys(value).filter((name) => !Object.hasOwn(fields, name))
  return [
    ...missing.map((name) => `${at}.${name} is missing`),
    ...extra.map((name) => `${at}.${name} is not in the contract`),
    ...Object.entries(value).flatMap(([name, item]) =>
      fields[name] === undefined ? [] : problemsOf(item, fields[name], `${at}.${name}`),
    ),
  ]
}

function checkPlain(value: unknown, kind: string): boolean {
  if (kind.startsWith('=')) return kind.slice(1).split('|').includes(String(value))
  if (kind.endsWith('?')) return value === null || checkPlain(value, kind.slice(0, -1))
  const check = plain[kind]
  if (check === undefined) throw new Error(`Assertion failed: no kind '${kind}'`)
  return check(value)
}

export const checkpoint: Shape = {
  ...{ id: 'text', chat_id: 'chat', conversation: 'chat', record_index: 'count' },
  ...{ message_id: 'message?', tool_call_id: 'text?', kind: '=start|user|assistant|tool_call|tool_result' },
  ...{ label: 'text', detail: 'text', ts: 'time', turn: 'count', files: 'any' },
  restorable: '=full|partial|none|null',
}

const branchFrom: Shape = {
  ...{ chat_id: 'chat', record_index: 'count', message_id: 'message?', tool_call_id: 'text?' },
  checkpoint_label: 'text',
}

const branchFields = {
  ...{ chat_id: 'chat', conversation: 'chat', kind: '=main|fork|rewind|concurrent', name: 'text?' },
  ...{ parent: 'chat?', current: 'flag', covered: 'flag', retired: 'flag', records: 'count', turns: 'count' },
  ...{ open_turn: 'flag', created_at: 'time', last_activity: 'time', preview: 'text', workspace: 'text' },
}

/** A first branch comes from nowhere. */
export const mainBranch: Shape = { ...branchFields, branch_from: 'any' }
export const forkedBranch: Shape = { ...branchFields, branch_from: branchFrom }

export const state: Shape = { exists: 'flag', sha256: 'sha256?', mode: 'text?', size: 'count?' }

export const chat: Shape = {
  ...{ chat_id: 'chat', conversation: 'chat', created_at: 'time', last_activity: 'time', model: 'text' },
  ...{ workspace: 'text', branches: 'count', records: 'count', preview: 'text' },
}

export const finding: Shape = {
  ...{ severity: '=note|damage', code: 'text', subject: 'text', message: 'text', effect: 'text' },
}

/** A conversation that a list had to leave out: an addition to the contract. */
export const unreadable: Shape = { conversation: 'text', code: 'text', message: 'text' }

const placed = { message_id: 'message?', record_index: 'count', notice: 'text?' }

/** The records of a transcript as `log` and `show` print them. */
export const records: Readonly<Record<string, Shape>> = {
  system: { type: '=system', content: 'text', ...placed },
  user: { type: '=user', content: 'text', ts: 'time', ...placed },
  assistant: {
    ...{ type: '=assistant', content: 'text', reasoning: 'text', ts: 'time', ...placed },
    tool_calls: [{ id: 'text', name: 'text', arguments: 'any' }],
  },
  tool: {
    ...{ type: '=tool', tool_call_id: 'text', name: 'text', ok: 'flag', content: 'text', ts: 'time' },
    ...placed,
  },
}
