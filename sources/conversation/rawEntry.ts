import * as t from 'typanion'
import { isBranchFrom } from './record.ts'

const text = t.isOptional(t.isString())
const count = t.isOptional(t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(0)]))
const isIndex = t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(0)])

/** Checks the keys of a message entry: most lines are one, and the check of all keys costs three times this one. */
export const isRawMessageEntry = t.isPartial({
  id: t.isString(),
  head: text,
  writer: text,
  turn: text,
  at: text,
  parent: text,
  digest: text,
  fs: count,
  ws: text,
})
/** A message entry as it is on disk; `msgs` is checked on its own. */
export type RawMessageEntry = t.InferType<typeof isRawMessageEntry>

/** Checks the keys of any other entry: all types share one set of them, each with one type. */
export const isRawEntry = t.isPartial({
  type: t.isString(),
  head: text,
  writer: text,
  turn: text,
  at: text,
  new_head: text,
  from: text,
  kind: text,
  name: text,
  checkpoint: t.isOptional(t.isPartial({ record_index: isIndex, tool_call_id: text, label: t.isString() })),
  to: text,
  cause: text,
  reason: text,
  leaf: text,
  preserve_user: t.isOptional(t.isBoolean()),
  covered_leaf: text,
  target: text,
  targets: t.isOptional(t.isRecord(t.isUnknown())),
  pid: t.isOptional(t.isNumber()),
  hostname: text,
  generation: count,
  upgraded_from_schema: count,
  meta: t.isOptional(
    t.isPartial({
      created_at: t.isString(),
      model: t.isString(),
      cwd: t.isString(),
      parent_chat_id: text,
      branch_from: t.isOptional(isBranchFrom),
    }),
  ),
  msgs: t.isOptional(t.isUnknown()),
})
/** An entry as it is on disk. */
export type RawEntry = t.InferType<typeof isRawEntry>
