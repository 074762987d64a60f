import { stat } from 'node:fs/promises'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { isProtectedBy } from './policy.ts'

/** The files of the folder of cass that can hold a key or a secret address. */
const secretFiles = ['providers.json', 'config.json']

/**
 * Makes a function that spells canonical paths below the folder of cass as the policy knows them, whichever way leads
 * there: a bind mount, a firm link of macOS, or another name of a file with keys (a hard link, or the file itself where
 * the one of cass is a link). Other paths stay as they are. It remembers folders, so it is made for one tool call.
 */
export function makeOwnSpelling(cassHome: string): (real: string) => Promise<string> {
  const folders = new Map<string, Promise<string>>()
  let own: Promise<ReadonlyMap<string, string>> | null = null

  async function spell(real: string): Promise<string> {
    own ??= identitiesOf([...secretFiles.map((name) => path.join(cassHome, name)), cassHome])
    const named = (await own).get((await tryIdentity(real)) ?? '')
    if (named !== undefined) return named
    const parent = path.dirname(real)
    return parent === real ? real : path.join(await spellFolder(parent), path.basename(real))
  }

  function spellFolder(folder: string): Promise<string> {
    const known = folders.get(folder) ?? spell(folder)
    folders.set(folder, known)
    return known
  }

  return spell
}

/** Makes the question whether a path lies in the folder of cass, whatever it is called. Remembers folders as well. */
export function makeIsClosed(cassHome: string): (file: string) => Promise<boolean> {
  const spell = makeOwnSpelling(cassHome)
  return async (file) => isProtectedBy(file, cassHome) || isProtectedBy(await spell(file), cassHome)
}

async function identitiesOf(names: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(names.map(async (name) => [await tryIdentity(name), name] as const))
  return new Map(found.flatMap(([identity, name]) => (identity === null ? [] : [[identity, name] as const])))
}

/** What tells a file or folder from all others, whatever it is called; null when it cannot be looked at. */
async function tryIdentity(file: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(file, { bigint: true })
    // Some file systems number nothing, and then all files would look like one.
    return ino === 0n ? null : `${dev}:${ino}`
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return null
  }
}
