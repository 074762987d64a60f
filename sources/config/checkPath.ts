import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { type Finding, okFinding } from './finding.ts'

/** Looks which `cass` a shell would start. `program` is our own file; null when it is not known. */
export async function checkPath({
  searchPath,
  cwd,
  program,
  os,
  show,
}: {
  /** The value of PATH. */
  readonly searchPath: string
  readonly cwd: string
  readonly program: string | null
  readonly os: string
  readonly show: (path: string) => string
}): Promise<ReadonlyArray<Finding>> {
  const first = await findProgram(searchPath, cwd, os)
  if (first === null) return [okFinding('cass_not_on_path', 'cass', "'cass' is not on PATH")]
  const ours = program === null ? null : await tryRealPath(program)
  // On Windows a small script stands on PATH in place of a link, so the files cannot be compared.
  const isOurs = ours === null || os === 'win32' || (await tryRealPath(first)) === ours
  if (isOurs) return [okFinding('cass_on_path', 'cass', `'cass' on PATH: ${show(first)}`)]
  return [
    {
      severity: 'warning',
      code: 'foreign_cass',
      subject: 'cass',
      message: `'cass' on PATH is another program: ${show(first)}`,
      hint: 'put the folder of this program before it on PATH, or remove the other one',
    },
  ]
}

async function findProgram(searchPath: string, cwd: string, os: string): Promise<string | null> {
  const names = os === 'win32' ? ['cass.exe', 'cass.cmd', 'cass.bat'] : ['cass']
  for (const folder of searchPath.split(os === 'win32' ? ';' : ':')) {
    for (const name of names) {
      const file = path.resolve(cwd, folder, name)
      if (await isProgram(file)) return file
    }
  }
  return null
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch (error) {
    // Whatever keeps us from looking also keeps the shell from starting it.
    if (errnoOf(error) === null) throw error
    return false
  }
}

async function tryRealPath(file: string): Promise<string | null> {
  try {
    return await realpath(file)
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return null
  }
}
