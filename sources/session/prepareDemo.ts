import { cp, mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CassError, errnoOf } from '../errors.ts'
import type { Place } from './place.ts'

/**
 * A place for the demo model: a fresh folder for temporary files with a copy of the sample project in it, and a home of its
 * own, so that neither the user's folder nor the list of chats is touched.
 */
export async function prepareDemo(place: Place): Promise<Place> {
  try {
    const scratch = await realpath(await mkdtemp(path.join(tmpdir(), 'cass-demo-')))
    const cwd = path.join(scratch, 'project')
    const root = path.join(scratch, 'home')
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
