import { CassError } from '../errors.ts'
import { type CheckpointKind, type CheckpointRef, positionOf, START_INDEX } from './checkpoints.ts'
import type { ChainItem } from './message.ts'
import { forkPoint } from './repair.ts'

/** Names a branch: `@` the current one, else by chat id, name or prefix. */
export type BranchSpec = { readonly type: 'current' } | { readonly type: 'named'; readonly name: string }

/** What a person or a script may write for a place on a branch (docs/storage.md, selectors). */
export type Selector =
  /** The branch's tip. */
  | { readonly type: 'branch'; readonly branch: BranchSpec }
  /** Before the branch's last `back` turns. */
  | { readonly type: 'turns'; readonly branch: BranchSpec; readonly back: number }
  | { readonly type: 'record'; readonly branch: BranchSpec; readonly record_index: number }
  | { readonly type: 'checkpoint'; readonly branch: BranchSpec; readonly checkpoint: CheckpointRef }
  /** A message by the start of its id, on the branch that made it. */
  | { readonly type: 'message'; readonly prefix: string }

/** A place on a chain: where the conversation ends there, and at which state of the files. */
export interface Place {
  readonly checkpoint: CheckpointRef
  readonly fs: number | null
  readonly ws: string | null
}

const CHECKPOINT = /^([^:~^]+):(\d{1,15}):(?:(start|user|assistant)|(tool_call|tool_result):(.*))$/s
const RECORD = /^([^:~^]+):(\d{1,15})$/
const TURNS = /^([^:~^]+)~(\d{1,15})$/
const BRANCH = /^[^:~^]+$/

/** Parses a selector. Throws `bad_selector` for a text that has none of the forms. */
export function parseSelector(text: string): Selector {
  if (text.startsWith('^') && /^\^[^\s:~^@]+$/.test(text)) return { type: 'message', prefix: text.slice(1) }
  const turns = TURNS.exec(text)
  if (turns !== null) return { type: 'turns', branch: branchSpec(turns[1]), back: Number(turns[2]) }
  const record = RECORD.exec(text)
  if (record !== null) {
    return { type: 'record', branch: branchSpec(record[1]), record_index: Number(record[2]) }
  }
  const [, chat, index, plain, ofCall, call] = CHECKPOINT.exec(text) ?? []
  const kind = KINDS.find((each) => each === (plain ?? ofCall))
  if (chat !== undefined && kind !== undefined) {
    const checkpoint = { record_index: Number(index), kind, tool_call_id: call ?? null }
    return { type: 'checkpoint', branch: branchSpec(chat), checkpoint }
  }
  if (BRANCH.test(text)) return { type: 'branch', branch: branchSpec(text) }
  throw new CassError('bad_selector', `'${text}' names no place on a branch`, {
    kind: 'usage',
    hint: 'use a checkpoint id, BRANCH, BRANCH~N, BRANCH:RECORD_INDEX or ^MESSAGE_ID; @ is the current branch',
  })
}

const KINDS: ReadonlyArray<CheckpointKind> = ['start', 'user', 'assistant', 'tool_call', 'tool_result']

function branchSpec(name: string | undefined): BranchSpec {
  return name === undefined || name === '@' ? { type: 'current' } : { type: 'named', name }
}

/**
 * Finds a selector's place on the chain of the branch that it names (for a message: of the branch that made it).
 * Throws `checkpoint_not_found`, for more turns than there are `selector_beyond_start`, and for a message prefix
 * with several hits `message_ambiguous`.
 */
export function locate(items: ReadonlyArray<ChainItem>, selector: Selector): Place {
  switch (selector.type) {
    case 'branch':
      return placeBehind(items, items.length)
    case 'turns':
      return beforeTurns(items, selector.back)
    case 'record': {
      if (selector.record_index === START_INDEX) return placeBehind(items, startLength(items))
      const position = positionOf(items, selector.record_index)
      if (position === -1) throw noRecord(selector.record_index)
      return placeBehind(items, position + 1)
    }
    case 'checkpoint': {
      const { fs, ws } = forkPoint(items, selector.checkpoint, '')
      return { checkpoint: selector.checkpoint, fs, ws }
    }
    case 'message': {
      const id = matchMessageId(
        selector.prefix,
        items.map((item) => item.id),
      )
      return placeBehind(items, items.findIndex((item) => item.id === id) + 1)
    }
  }
}

/** The place where the conversation ends behind the first `length` messages. */
function placeBehind(items: ReadonlyArray<ChainItem>, length: number): Place {
  const item = items[length - 1]
  if (item === undefined) return { checkpoint: START, fs: null, ws: null }
  const { index, fs, ws, message } = item
  switch (message.role) {
    case 'system':
      return { checkpoint: START, fs, ws }
    case 'user':
    case 'assistant':
      return { checkpoint: { record_index: index, kind: message.role, tool_call_id: null }, fs, ws }
    case 'tool': {
      const tool_call_id = message.tool_call_id ?? ''
      return { checkpoint: { record_index: index, kind: 'tool_result', tool_call_id }, fs, ws }
    }
  }
}

const START: CheckpointRef = { record_index: START_INDEX, kind: 'start', tool_call_id: null }

function startLength(items: ReadonlyArray<ChainItem>): number {
  return items[0]?.message.role === 'system' ? 1 : 0
}

function beforeTurns(items: ReadonlyArray<ChainItem>, back: number): Place {
  if (back === 0) return placeBehind(items, items.length)
  const users = items.flatMap(({ message }, position) => (message.role === 'user' ? [position] : []))
  const position = users.at(-back)
  const user = position === undefined ? undefined : items[position]
  if (position === undefined || user === undefined) {
    const turns = users.length === 1 ? '1 turn' : `${users.length} turns`
    throw new CassError('selector_beyond_start', `the branch has only ${turns}, not '${back}'`, {
      hint: 'name a smaller number of turns, or the checkpoint with kind start',
      data: { turns: users.length },
    })
  }
  const { checkpoint } = placeBehind(items, position)
  return { checkpoint, fs: user.fs, ws: user.ws }
}

function noRecord(index: number): CassError {
  return new CassError('checkpoint_not_found', `the branch has no checkpoint at record '${index}'`, {
    hint: 'list the checkpoints with cass checkpoints',
  })
}

/** The one id that starts so. Throws `message_not_found` or `message_ambiguous`. */
export function matchMessageId(prefix: string, ids: Iterable<string>): string {
  const upper = prefix.toUpperCase()
  const hits = new Set<string>()
  for (const id of ids) {
    if (id === prefix) return id
    if (id.startsWith(prefix) || id.startsWith(upper)) hits.add(id)
  }
  const [first, ...others] = hits
  if (first === undefined) {
    throw new CassError('message_not_found', `no message has an id that starts with '${prefix}'`, {
      hint: 'list message ids with cass log --json',
    })
  }
  if (others.length === 0) return first
  throw new CassError('message_ambiguous', `'${prefix}' is the start of ${hits.size} message ids`, {
    hint: `write more of it: ${[...hits].slice(0, 5).join(', ')}`,
    data: { candidates: [...hits] },
  })
}
