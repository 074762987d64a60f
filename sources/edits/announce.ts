import { type CassError, errnoOf } from '../errors.ts'
import type { HeldLock } from '../files/lockFile.ts'
import { type Edit, type EditSinkOptions, sideOfObserved, tooLargeHint } from './editOptions.ts'
import { sideOf } from './fileState.ts'
import {
  type JournalLine,
  journalPathOf,
  type LineContent,
  makeJournalLine,
  makeVoidLine,
} from './journalLine.ts'
import { planOutside } from './observe.ts'
import { holdSnapshots, snapshotRefused, storeSnapshot } from './snapshots.ts'

/** Null: the store cannot be used, and the settings say that this is no reason to refuse. */
export async function holdForStore(
  realPath: string,
  { journal, settings, wait }: EditSinkOptions,
): Promise<HeldLock | null> {
  try {
    return await holdSnapshots(journal.place.home, wait.signal)
  } catch (error) {
    if (wait.signal?.aborted) throw error
    if (settings.required) throw storeUnwritable(realPath, error)
    return null
  }
}

export interface Announcement {
  readonly edit: Edit
  readonly sha256: string
  readonly mode: number
  readonly folders: ReadonlyArray<string>
  readonly canStore: boolean
}

/** Stores both sides, then writes the lines: what others did to the file, a gap if there is one, the change itself. */
export async function announce(announcement: Announcement, options: EditSinkOptions): Promise<JournalLine> {
  const { edit, sha256, mode, folders } = announcement
  const { journal, attribution } = options
  const [old, fresh] = await Promise.all([
    edit.observed.bytes === null ? null : keep(edit.observed.bytes, announcement, options),
    keep(edit.bytes, announcement, options),
  ])
  const before = sideOfObserved(edit.observed, old === 'stored')
  const after = sideOf({ sha256, size: edit.bytes.length, mode }, fresh === 'stored')
  const { bytes, sha256: name } = edit.observed
  const found =
    bytes === null || name === null || edit.observed.mode === null
      ? ({ kind: 'absent' } as const)
      : ({
          kind: 'file',
          bytes,
          size: bytes.length,
          sha256: name,
          mode: edit.observed.mode,
          stamp: null,
        } as const)
  const outside = await planOutside(journal, edit.file, found, options.settings.maxFileBytes)
  const reason = [old, fresh].find((kept) => kept !== null && kept !== 'stored')
  const gap: LineContent[] =
    reason === undefined
      ? []
      : [{ type: 'gap', path: edit.file, before, after, reason: reason ?? 'capture_failed' }]
  const root = journal.place.workspace.root
  const created_dirs = folders.map((folder) => journalPathOf(root, folder))
  const line = makeJournalLine(options, attribution, {
    type: 'edit',
    path: edit.file,
    before,
    after,
    created_dirs,
  })
  const others = [...outside, ...gap].map((content) => makeJournalLine(options, attribution, content))
  try {
    await journal.append([...others, line])
  } catch (error) {
    await takeBackQuietly(line, options)
    throw error
  }
  return line
}

type Kept = 'stored' | 'oversized' | 'capture_failed'

async function keep(
  bytes: Buffer,
  { edit, canStore }: Announcement,
  options: EditSinkOptions,
): Promise<Kept> {
  const { settings, journal } = options
  if (bytes.length > settings.maxFileBytes) {
    if (!settings.required) return 'oversized'
    throw snapshotRefused(edit.realPath, `${bytes.length} bytes are too many to keep a copy of`, {
      hint: tooLargeHint,
    })
  }
  if (!canStore) return 'capture_failed'
  try {
    await storeSnapshot(journal.place.home, bytes)
    return 'stored'
  } catch (error) {
    if (!settings.required) return 'capture_failed'
    throw storeUnwritable(edit.realPath, error)
  }
}

/** The line may have reached the file although writing or syncing it failed. */
async function takeBackQuietly(
  line: JournalLine,
  { journal, attribution, ...source }: EditSinkOptions,
): Promise<void> {
  try {
    await journal.refresh()
    if (journal.has(line.id)) await journal.append([makeVoidLine(source, attribution.writer, line)])
  } catch {
    // The disk takes no more; the first error is told, and whoever reads a line that no file follows sees a conflict.
  }
}

function storeUnwritable(realPath: string, cause: unknown): CassError {
  return snapshotRefused(realPath, `its bytes cannot be kept: ${reasonOf(cause)}`, {
    hint: 'free some disk space, or set snapshots.required to false in settings.json',
    cause,
  })
}

/** The short cause of an error that was not expected. */
export function reasonOf(error: unknown): string {
  return errnoOf(error) ?? (error instanceof Error ? error.message : String(error))
}
