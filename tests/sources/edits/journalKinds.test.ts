import { existsSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { Journal, journalFile } from '../../../sources/edits/journal.ts'
import { readWorkspaceRoot } from '../../../sources/workspace/root.ts'
import { otherKinds, replaceBy } from '../files/_kinds.ts'
import { makePlace } from './_place.ts'

describe.skipIf(process.platform === 'win32').each(otherKinds)('%s in the place of', (_, make, words) => {
  it('a journal is an error that names it, and no change is made without one', async () => {
    const place = makePlace()
    const file = journalFile(place)
    mkdirSync(path.dirname(file), { recursive: true })
    make(file)
    const error = await new Journal(place).append([]).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'journal_unwritable',
      message: `cannot write the journal '${file}': ${words}`,
      hint: expect.any(String),
    })
    expect(statSync(file).isFile()).toBe(false)
  })

  it('the description of a workspace only takes its name away', async () => {
    const place = makePlace()
    await new Journal(place).append([])
    const about = path.join(path.dirname(journalFile(place)), 'about.json')
    expect(existsSync(about)).toBe(true)
    expect(await readWorkspaceRoot(place.home, place.workspace.key)).toBe(place.workspace.root)
    replaceBy(make, about)
    expect(await readWorkspaceRoot(place.home, place.workspace.key)).toBeNull()
  })
})
