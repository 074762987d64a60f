import path from 'node:path'
import * as t from 'typanion'
import { errnoOf } from '../errors.ts'
import { replaceDerivedFile } from '../files/durable.ts'
import { readRegular } from '../files/openRegular.ts'
import { workspaceFolder } from '../workspace/root.ts'
import { type FileStamp, isLookOf, isSameStamp, lookAt, stampAt } from './fileState.ts'
import type { Journal, JournalPlace } from './journal.ts'
import { realPathOf } from './journalLine.ts'

/**
 * Those of `files` (spelled as in the journal) that are not as their last line says. Files that look as they did when
 * they were last hashed are not read again.
 */
export async function findDiffering(
  journal: Journal,
  files: ReadonlyArray<string>,
  now: () => Date,
): Promise<string[]> {
  const seen = await readSeen(journal.place)
  const differing: string[] = []
  for (const file of files) if (!(await isAsExpected(journal, file, seen, now))) differing.push(file)
  if (seen.changed) {
    await replaceDerivedFile(seenFile(journal.place), `${JSON.stringify(Object.fromEntries(seen.paths))}\n`)
  }
  return differing
}

/** `seen.json`: what tracked files looked like when they were last hashed. Derived: any doubt about it means hashing. */
interface Seen {
  readonly paths: Map<string, FileStamp & { readonly sha256: string }>
  changed: boolean
}

const isSeen = t.isRecord(
  t.isPartial({
    size: t.isNumber(),
    mode: t.isNumber(),
    mtime_ns: t.isString(),
    ctime_ns: t.isString(),
    ino: t.isString(),
    sha256: t.isString(),
  }),
)

function seenFile({ home, workspace }: JournalPlace): string {
  return path.join(workspaceFolder(home, workspace.key), 'seen.json')
}

async function readSeen(place: JournalPlace): Promise<Seen> {
  try {
    const paths: unknown = JSON.parse(readRegular(seenFile(place)).toString('utf8'))
    if (isSeen(paths)) return { paths: new Map(Object.entries(paths)), changed: false }
  } catch (error) {
    // Damaged or missing is the same: it is made again from the files.
    if (!(error instanceof SyntaxError) && errnoOf(error) !== 'ENOENT') throw error
  }
  return { paths: new Map(), changed: false }
}

/** A file that changed this recently could change again without its times showing it (the coarsest known: 2 s). */
const settledAfterMs = 2000

async function isAsExpected(journal: Journal, file: string, seen: Seen, now: () => Date): Promise<boolean> {
  const expected = journal.lastChange(file)?.after
  if (expected === undefined) return true
  const realPath = realPathOf(journal.place.workspace.root, file)
  const stamp = stampAt(realPath)
  const known = seen.paths.get(file)
  if (stamp !== null && known !== undefined && isSameStamp(stamp, known)) {
    return isLookOf({ kind: 'file', bytes: null, stamp, ...stamp, sha256: known.sha256 }, expected)
  }
  const look = await lookAt(realPath, { keepBytes: false, maxBytes: null })
  if (look.kind === 'file' && look.stamp !== null) remember(seen, file, look.stamp, look.sha256, now)
  return isLookOf(look, expected)
}

function remember(seen: Seen, file: string, stamp: FileStamp, sha256: string, now: () => Date): void {
  const changedAt = Number(BigInt(stamp.ctime_ns) / 1_000_000n)
  if (changedAt > now().getTime() - settledAfterMs) return
  seen.paths.set(file, { ...stamp, sha256 })
  seen.changed = true
}
