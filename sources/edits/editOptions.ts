import type { HoldWait } from '../workspace/hold.ts'
import type { DisplacedFiles } from './displaced.ts'
import type { Swap } from './exchange.ts'
import { absentSide, sideOf } from './fileState.ts'
import type { Journal } from './journal.ts'
import type { Attribution, FileSide, LineSource } from './journalLine.ts'
import type { PublishStep } from './publish.ts'
import type { Liveness } from './unsettled.ts'

/** The state of one file: what restore and conflict checks compare. `sha256` and `mode` are null when absent. */
export interface ObservedFile {
  readonly exists: boolean
  /** Raw bytes; null when the file does not exist. */
  readonly bytes: Buffer | null
  readonly sha256: string | null
  /** Permission bits, for example 0o644; null when absent. */
  readonly mode: number | null
}

/** `snapshots` of settings.json, as far as an edit asks. */
export interface SnapshotSettings {
  readonly maxFileBytes: number
  /** False: a change whose bytes cannot be kept is let through, with a gap. */
  readonly required: boolean
}

export interface EditSinkOptions extends LineSource {
  readonly journal: Journal
  readonly attribution: Attribution
  readonly settings: SnapshotSettings
  /** Permission bits of files that did not exist: 0o666 without the bits of the umask. */
  readonly newFileMode: number
  /** Ends waiting, and everything up to the journal line; a change that was announced is finished. */
  readonly wait: HoldWait
  /** How to tell the lines of dead writers, which are judged before their path is edited. */
  readonly liveness: Liveness
  /** The turn's: where the files go that edits take the names of. */
  readonly displaced: DisplacedFiles
  /** For tests: places to act in, and a system without exchange. Omitted: neither. */
  readonly hooks?: EditHooks
}

export interface EditHooks {
  readonly onStep?: (step: 'line_written' | PublishStep) => void | Promise<void>
  readonly swap?: Swap | null
}

/** One edit on its way: what the tool saw, and what it wants there. */
export interface Edit {
  readonly realPath: string
  /** As the journal spells it. */
  readonly file: string
  readonly observed: ObservedFile
  readonly bytes: Buffer
}

/** The way out of a refusal for size. */
export const tooLargeHint =
  'raise snapshots.maxFileBytes in settings.json, or set snapshots.required to false there'

/** A side of a journal line from what a tool saw. */
export function sideOfObserved({ bytes, sha256, mode }: ObservedFile, stored: boolean): FileSide {
  if (bytes === null || sha256 === null || mode === null) return absentSide
  return sideOf({ sha256, mode, size: bytes.length }, stored)
}
