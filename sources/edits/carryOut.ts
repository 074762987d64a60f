import { CassError, errnoOf } from '../errors.ts'
import { reasonOf } from './announce.ts'
import type { Edit, EditSinkOptions } from './editOptions.ts'
import { loadSwap } from './exchange.ts'
import { type FoundFile, lookAt, sideOf } from './fileState.ts'
import {
  type FileSide,
  type JournalLine,
  type LineContent,
  makeJournalLine,
  makeVoidLine,
} from './journalLine.ts'
import { publishFile } from './publish.ts'
import { holdSnapshots, storeSnapshot } from './snapshots.ts'
import { judgeLine, keepForeignBytes, sideOfLook, sweepTemps } from './unsettled.ts'

/** Publishes what a line announced, and takes the line back when that fails. */
export async function publishAnnounced(
  { edit, line, mode }: { readonly edit: Edit; readonly line: JournalLine; readonly mode: number },
  options: EditSinkOptions,
): Promise<void> {
  const { journal, hooks, attribution, displaced } = options
  const { writer } = attribution
  let foreign: FileSide | null = null
  let returned: FoundFile | null = null
  try {
    await hooks?.onStep?.('line_written')
    await publishFile({
      realPath: edit.realPath,
      lineId: line.id,
      before: line.before,
      after: { bytes: edit.bytes, side: line.after, mode },
      keepForeign: async (found) => {
        await keepForeignBytes({ journal, line, writer, found, current: null, source: options, displaced })
        foreign = sideOf(found, true)
      },
      onReturned: (found) => {
        returned = found
      },
      keepOpen: (file) => displaced.keep(line, file),
      swap: hooks?.swap === undefined ? await loadSwap() : hooks.swap,
      ...(hooks?.onStep === undefined ? {} : { onStep: hooks.onStep }),
    })
  } catch (error) {
    const undone = errnoOf(error) === 'file_changed'
    await settleFailure({ edit, line, foreign, returned, undone }, options)
    if (error instanceof CassError) throw error
    throw new CassError('write_failed', `cannot write '${edit.realPath}': ${reasonOf(error)}`, {
      hint: 'check free disk space and the permissions of its folder',
      cause: error,
    })
  }
}

interface Failure {
  readonly edit: Edit
  readonly line: JournalLine
  /** Others' bytes that were stored and told of. */
  readonly foreign: FileSide | null
  /** Others' bytes that have their name again. */
  readonly returned: FoundFile | null
  /** The publication itself says that the file does not hold our bytes. */
  readonly undone: boolean
}

/** After a failed publication the line stands only if the file holds the new bytes all the same. */
async function settleFailure(failure: Failure, options: EditSinkOptions): Promise<void> {
  const { edit, line, undone } = failure
  const { journal, attribution, displaced } = options
  const { writer } = attribution
  const current = sideOfLook(await lookAt(edit.realPath, { keepBytes: false, maxBytes: null }))
  const foreign = await keepReturned(failure, current, options)
  const lines: JournalLine[] = []
  if (undone || judgeLine(line, current) === 'void') lines.push(makeVoidLine(options, writer, line))
  // Others' bytes were written down as the last state of the path; the file may be in another one by now.
  if (foreign !== null && current !== null) {
    const content: LineContent = { type: 'outside', path: line.path, before: foreign, after: current }
    lines.push(makeJournalLine(options, attribution, content))
  }
  if (lines.length > 0) await journal.append(lines)
  await sweepTemps({ journal, line, writer, current, source: options, displaced })
}

/**
 * Bytes that went back may be gone soon: who read ours meanwhile may save them there. So they are stored, and told of if
 * they are gone already. Gives the last of others' bytes that a line tells of.
 */
async function keepReturned(
  { line, foreign, returned }: Failure,
  current: FileSide | null,
  options: EditSinkOptions,
): Promise<FileSide | null> {
  if (returned === null || returned.size === 0) return foreign
  const { journal, attribution, displaced } = options
  if (current?.sha256 === returned.sha256) {
    await storeQuietly(journal.place.home, returned.bytes)
    return foreign
  }
  await keepForeignBytes({
    ...{ journal, writer: attribution.writer, source: options, displaced },
    ...{ line: { ...line, before: foreign ?? line.before }, found: returned, current: null },
  })
  return sideOf(returned, true)
}

async function storeQuietly(home: string, bytes: Buffer): Promise<void> {
  try {
    const lock = await holdSnapshots(home, null)
    try {
      await storeSnapshot(home, bytes)
    } finally {
      await lock.release()
    }
  } catch {
    // The bytes are in the file, where they were; the refusal of the edit is what there is to tell.
  }
}
