import path from 'node:path'
import { assertNever, CassError, errnoOf } from '../errors.ts'
import { holdForPath } from '../workspace/hold.ts'
import { missingFolders } from './anchor.ts'
import { announce, holdForStore } from './announce.ts'
import { publishAnnounced } from './carryOut.ts'
import {
  type Edit,
  type EditSinkOptions,
  type ObservedFile,
  type SnapshotSettings,
  sideOfObserved,
  tooLargeHint,
} from './editOptions.ts'
import { isLookOf, lookAt, sha256Of } from './fileState.ts'
import { type JournalLine, journalPathOf } from './journalLine.ts'
import { fileChanged } from './publish.ts'
import { settleLines } from './unsettled.ts'

/**
 * Where `write` and `edit` publish. Made for one tool call, so that each journal line knows its call and the
 * message that will hold its result.
 */
export interface EditSink {
  /** Looks at a regular file (real path). Throws `not_a_file`, or `file_too_large` when its bytes cannot be kept. */
  observe(realPath: string): Promise<ObservedFile>
  /**
   * Writes the journal line, then publishes `bytes` at `realPath` (missing folders are created), keeping the mode of
   * an existing file. Throws `file_changed` when the file is not as `observed`; then nothing of the user's is lost.
   */
  publish(edit: {
    readonly realPath: string
    readonly observed: ObservedFile
    readonly bytes: Buffer
  }): Promise<void>
}

export function makeEditSink(options: EditSinkOptions): EditSink {
  const { home, workspace } = options.journal.place
  const { displaced } = options
  const underHold = async <T>(realPath: string, work: (file: string) => Promise<T>): Promise<T> => {
    const file = journalPathOf(workspace.root, realPath)
    // Before and after the hold, since looking may take one itself.
    await displaced.look()
    const hold = await holdForPath({ home, key: workspace.key }, file, options.wait)
    try {
      return await work(file)
    } finally {
      await hold.release()
      await displaced.look()
    }
  }
  return {
    observe: (realPath) => underHold(realPath, () => observeFile(realPath, options.settings)),
    publish: (edit) => underHold(edit.realPath, (file) => publishEdit({ ...edit, file }, options)),
  }
}

async function observeFile(realPath: string, settings: SnapshotSettings): Promise<ObservedFile> {
  missingFolders(path.dirname(realPath))
  const maxBytes = settings.required ? settings.maxFileBytes : null
  const look = await lookAt(realPath, { keepBytes: true, maxBytes })
  switch (look.kind) {
    case 'absent':
      return { exists: false, bytes: null, sha256: null, mode: null }
    case 'file':
      return { exists: true, bytes: look.bytes, sha256: look.sha256, mode: look.mode }
    case 'link':
    case 'special':
      throw new CassError('not_a_file', `'${realPath}' is not a regular file`, {
        hint: 'name a regular file',
      })
    case 'unreadable':
      throw new CassError(
        'file_unreadable',
        `cannot read '${realPath}': ${errnoOf(look.cause) ?? 'unreadable'}`,
        {
          hint: 'check the permissions of the file',
          cause: look.cause,
        },
      )
    case 'oversized':
      throw new CassError(
        'file_too_large',
        `'${realPath}' has ${look.size} bytes, too many to keep a copy of`,
        {
          kind: 'refused',
          hint: tooLargeHint,
        },
      )
    default:
      return assertNever(look)
  }
}

async function publishEdit(edit: Edit, options: EditSinkOptions): Promise<void> {
  const { journal, attribution, liveness } = options
  const folders = missingFolders(path.dirname(edit.realPath))
  const settle = {
    ...options,
    ...liveness,
    writer: attribution.writer,
    turn: null,
    path: edit.file,
    wait: null,
  }
  await settleLines(settle)
  const look = await lookAt(edit.realPath, { keepBytes: false, maxBytes: null })
  if (!isLookOf(look, sideOfObserved(edit.observed, false))) throw fileChanged(edit.realPath)
  const mode = edit.observed.mode ?? options.newFileMode
  const sha256 = sha256Of(edit.bytes)
  // Writing what is there already is no change, so it needs no line and no copy.
  if (edit.observed.exists && edit.observed.sha256 === sha256) return
  options.wait.signal?.throwIfAborted()
  const snapshots = await holdForStore(edit.realPath, options)
  let line: JournalLine
  try {
    line = await announce({ edit, sha256, mode, folders, canStore: snapshots !== null }, options)
  } finally {
    await snapshots?.release()
  }
  await journal.refresh()
  await publishAnnounced({ edit, line, mode }, options)
}
