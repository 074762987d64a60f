import type { Checkpoint } from '../conversation/checkpoints.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { familyOf } from '../conversation/library.ts'
import type { CassRecord } from '../conversation/record.ts'
import { metaOf } from '../conversation/transcript.ts'
import { Journal } from '../edits/journal.ts'
import { type FileSide, isChange } from '../edits/journalLine.ts'
import { diffSides } from './diffSides.ts'
import { locatePlace } from './locatePlace.ts'
import { type Place, workspaceOf } from './place.ts'
import { type LoggedRecord, loggedRecord } from './readBranchLog.ts'

/** One side of a file's change. */
export interface State {
  readonly exists: boolean
  readonly sha256: string | null
  /** Octal permission bits, `755`. */
  readonly mode: string | null
  readonly size: number | null
}

export interface ShownCheckpoint {
  readonly checkpoint: Checkpoint
  readonly record:
    | LoggedRecord
    | (CassRecord & { readonly message_id: null; readonly record_index: number; readonly notice: null })
  readonly changes: ReadonlyArray<{
    readonly path: string
    readonly before: State
    readonly after: State
    /** Null: not asked for, or the bytes of a side are not kept. */
    readonly diff: string | null
  }>
}

/** A checkpoint's record in full, and the files that its tool call changed; with `diff`, how. */
export async function showCheckpoint(
  place: Place,
  { spec, diff }: { readonly spec: string; readonly diff: boolean },
): Promise<ShownCheckpoint> {
  const { conversation, head, checkpoint } = locatePlace(place, spec)
  const node =
    checkpoint.message_id === null ? undefined : conversation.graph.nodes.get(checkpoint.message_id)
  const item = node === undefined ? undefined : conversation.items([node], 'whole', head)[0]
  const record =
    item === undefined
      ? { ...metaOf(conversation, head), message_id: null, record_index: 0, notice: null }
      : loggedRecord(item)
  return { checkpoint, record, changes: await changesOf(place, { conversation, checkpoint, diff }) }
}

async function changesOf(
  place: Place,
  {
    conversation,
    checkpoint,
    diff,
  }: { readonly conversation: Conversation; readonly checkpoint: Checkpoint; readonly diff: boolean },
): Promise<ShownCheckpoint['changes']> {
  const { tool_call_id: callId, turn } = checkpoint
  if (callId === null || turn === 0) return []
  const journal = new Journal({ home: place.root, workspace: workspaceOf(place) })
  await journal.refresh()
  const family = new Set(familyOf(place.root, conversation.id))
  const lines = journal.lines
    .map(({ line }) => line)
    .filter((line) => line.tool_call_id === callId && family.has(line.conversation ?? ''))
    .filter((line) => !journal.isVoided(line.id))
    .filter(isChange)
  return Promise.all(
    lines.map(async ({ path, before, after }) => ({
      ...{ path, before: stateOf(before), after: stateOf(after) },
      diff: diff ? await diffSides(place.root, { path, before, after }) : null,
    })),
  )
}

function stateOf({ exists, sha256, mode, size }: FileSide): State {
  return { exists, sha256: sha256 ?? null, mode: mode ?? null, size: size ?? null }
}
