import { cp, lstat, mkdir, mkdtemp, realpath, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import { DEMO_MARKER, DEMO_MARKER_TEXT, DEMO_PREFIX, isDemoFolder, sweepDemos } from './demoFolders.ts'
import type { Place } from './place.ts'

/**
 * A place for the demo model: a fresh folder for temporary files with a copy of the sample project in it, and a home of its
 * own, so that neither the user's folder nor the list of chats is touched. `goesOn`: in the project of an earlier demo, that
 * one's, so that its chats can be gone on with. Demos of yesterday are removed.
 */
export async function prepareDemo(place: Place, { goesOn }: { readonly goesOn: boolean }): Promise<Place> {
  const earlier = goesOn ? await earlierDemo(place) : null
  if (earlier !== null) return earlier
  try {
    const parent = await realpath(tmpdir())
    await sweepDemos({ parent, now: place.now(), keep: place.cwd })
    const scratch = await mkdtemp(path.join(parent, DEMO_PREFIX))
    const cwd = path.join(scratch, 'project')
    const root = path.join(scratch, 'home')
    await writeFile(path.join(scratch, DEMO_MARKER), DEMO_MARKER_TEXT, { flag: 'wx', mode: 0o600 })
    await cp(path.join(place.programFolder, 'sample-project'), cwd, { recursive: true })
    await mkdir(root, { mode: 0o700 })
    return { ...place, cwd, root }
  } catch (error) {
    throw new CassError(
      'demo_unavailable',
      `cannot make the demo's folder: ${errnoOf(error) ?? String(error)}`,
      {
        cause: error,
        hint: 'check that the folder for temporary files can be written, and that the program is installed whole',
      },
    )
  }
}

/** The place of the demo whose project is the folder that is worked in; null in any other folder. */
async function earlierDemo(place: Place): Promise<Place | null> {
  const scratch = path.dirname(place.cwd)
  const root = path.join(scratch, 'home')
  if (path.basename(place.cwd) !== 'project' || !(await isDemoFolder(scratch))) return null
  const home = await lstat(root).catch(() => null)
  if (home?.isDirectory() !== true) return null
  // In use again, so it is not one of yesterday.
  const now = place.now()
  await utimes(path.join(scratch, DEMO_MARKER), now, now)
  return { ...place, root }
}
