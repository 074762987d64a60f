import type { FileSide } from '../edits/journalLine.ts'
import { readSnapshot } from '../edits/snapshots.ts'
import { tryDecodeText } from '../tools/text.ts'
import { diffTexts } from '../tools/unifiedDiff.ts'

/** What a change did to a file, as a unified diff; null when the bytes of a side are not kept. */
export async function diffSides(
  home: string,
  { path, before, after }: { readonly path: string; readonly before: FileSide; readonly after: FileSide },
): Promise<string | null> {
  const [old, fresh] = await Promise.all([readSide(home, before), readSide(home, after)])
  if (old === null || fresh === null) return null
  const [oldText, freshText] = [tryDecodeText(old), tryDecodeText(fresh)]
  if (oldText === null || freshText === null) return 'binary file\n'
  return (await diffTexts(path, oldText.text, freshText.text)).text
}

async function readSide(home: string, { exists, sha256 }: FileSide): Promise<Buffer | null> {
  if (!exists) return Buffer.alloc(0)
  return sha256 === undefined ? null : await readSnapshot(home, sha256)
}
