import { CassError, errnoOf } from '../errors.ts'
import { reasonOf } from './announce.ts'
import type { Edit, EditSinkOptions } from './editOptions.ts'
import { loadSwap } from './exchange.ts'
import { lookAt, sideOf } from './fileState.ts'
import {
  type FileSide,
  type JournalLine,
  type LineContent,
  makeJournalLine,
  makeVoidLine,
} from './journalLine.ts'
import { publishFile } from './publish.ts'
import { judgeLine, keepForeignBytes, sideOfLook, sweepTemps } from './unsettled.ts'

/** Publishes what a line announced, and takes the line back when that fails. */
export async function publishAnnounced(
  { edit, line, mode }: { readonly edit: Edit; readonly line: JournalLine; readonly mode: number },
  options: EditSinkOptions,
): Promise<void> {
  const { journal, hooks, attribution, displaced } = options
  const { writer } = attribution
  let foreign: FileSide | null = null
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
      keepOpen: (file) => displaced.keep(line, file),
      swap: hooks?.swap === undefined ? await loadSwap() : hooks.swap,
      ...(hooks?.onStep === undefined ? {} : { onStep: hooks.onStep }),
    })
  } catch (error) {
    await settleFailure({ edit, line, foreign, undone: errnoOf(error) === 'file_changed' }, options)
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
  readonly foreign: FileSide | null
  /** The publication itself says that the file does not hold our bytes. */
  readonly undone: boolean
}

/** After a failed publication the line stands only if the file holds the new bytes all the same. */
async function settleFailure(
  { edit, line, foreign, undone }: Failure,
  options: EditSinkOptions,
): Promise<void> {
  const { journal, attribution, displaced } = options
  const { writer } = attribution
  const current = sideOfLook(await lookAt(edit.realPath, { keepBytes: false, maxBytes: null }))
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
