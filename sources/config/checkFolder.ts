import { constants } from 'node:fs'
import { access, lstat, stat } from 'node:fs/promises'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { type Finding, okFinding } from './finding.ts'

const privateFolders = ['conversations', 'workspaces', 'file-snapshots', 'heads', 'locks']
const privateFiles = ['config.json', 'providers.json', 'models.json', 'settings.json', 'global.md']

/** Looks at the home folder and what is private in it. Changes nothing, also no permission. */
export async function checkFolder({
  root,
  os,
  show,
}: {
  readonly root: string
  readonly os: string
  readonly show: (path: string) => string
}): Promise<ReadonlyArray<Finding>> {
  const found = await lookAt(root)
  const shown = show(root)
  if (found === 'absent') {
    return [okFinding('folder_absent', shown, `${shown}: not present (made when it is first needed)`)]
  }
  if (found === 'unreadable') {
    return [
      problem(
        'error',
        'folder_unreadable',
        shown,
        'cannot be looked at',
        'give yourself the right to read it',
      ),
    ]
  }
  if (!found.isFolder) {
    return [problem('error', 'folder_invalid', shown, 'is not a folder', 'move it away, or set CASS_HOME')]
  }
  const findings: Finding[] = []
  if (!(await isWritable(root))) {
    findings.push(
      problem('error', 'folder_not_writable', shown, 'is not writable', 'give yourself the right to write'),
    )
  }
  if (os !== 'win32') {
    if (found.isOpen) findings.push(openToOthers('folder_permissions', shown, '700'))
    const inside = [
      ...privateFolders.map((name) => ({ file: path.join(root, name), mode: '700' as const })),
      ...privateFiles.map((name) => ({ file: path.join(root, name), mode: '600' as const })),
    ]
    for (const { file, mode } of inside) {
      // Nobody gets through a closed folder, but by a link out of it there is another way.
      if (found.isOpen || (await isLink(file))) findings.push(...(await lookInside(file, mode, show)))
    }
  }
  return findings.length === 0
    ? [okFinding('folder_private', shown, `${shown}: only yours to read and write`)]
    : findings
}

async function lookInside(
  file: string,
  mode: '700' | '600',
  show: (path: string) => string,
): Promise<ReadonlyArray<Finding>> {
  const found = await lookAt(file)
  if (found === 'absent' || found === 'unreadable' || !found.isOpen) return []
  return [openToOthers(mode === '700' ? 'folder_permissions' : 'file_permissions', show(file), mode)]
}

type Look = 'absent' | 'unreadable' | { readonly isFolder: boolean; readonly isOpen: boolean }

async function lookAt(file: string): Promise<Look> {
  try {
    const found = await stat(file)
    return { isFolder: found.isDirectory(), isOpen: (found.mode & 0o077) !== 0 }
  } catch (error) {
    const reason = errnoOf(error)
    if (reason === null) throw error
    return reason === 'ENOENT' ? 'absent' : 'unreadable'
  }
}

async function isLink(file: string): Promise<boolean> {
  try {
    return (await lstat(file)).isSymbolicLink()
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return false
  }
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return false
  }
}

function openToOthers(code: string, shown: string, mode: '700' | '600'): Finding {
  return problem('warning', code, shown, 'can be read or written by others', `run 'chmod ${mode} ${shown}'`)
}

function problem(
  severity: 'warning' | 'error',
  code: string,
  subject: string,
  text: string,
  hint: string,
): Finding {
  return { severity, code, subject, message: `${subject}: ${text}`, hint }
}
