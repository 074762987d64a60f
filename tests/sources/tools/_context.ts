import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach } from 'vitest'
import type { ObservedFile } from '../../../sources/edits/editOptions.ts'
import type { EditSink } from '../../../sources/edits/editSink.ts'
import { CassError, errnoOf } from '../../../sources/errors.ts'
import type { ToolContext } from '../../../sources/tools/tool.ts'
import type { AccessMode } from '../../../sources/workspace/policy.ts'

/** A folder of its own for one test, with a workspace, the bundled docs, a home and a cass home in it. */
export interface Place {
  readonly root: string
  readonly workspace: string
  readonly docs: string
  readonly home: string
  readonly cassHome: string
  readonly output: { stream: string; content: string }[]
  /** What the workspace was asked for, in order: `hold`, `end`. */
  readonly holds: string[]
  readonly published: string[]
}

const made: string[] = []

afterEach(() => {
  for (const root of made.splice(0)) rmSync(root, { recursive: true, force: true })
})

export function makePlace(): Place {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cass-tools-')))
  made.push(root)
  const [workspace, docs, home] = ['work', 'docs', 'home'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ]
  const cassHome = path.join(home, '.cass')
  for (const folder of [workspace, docs, cassHome]) mkdirSync(folder, { recursive: true })
  return { root, workspace, docs, home, cassHome, output: [], holds: [], published: [] }
}

export interface ContextOptions {
  readonly mode: AccessMode
  readonly signal?: AbortSignal
  readonly environment?: Record<string, string>
  readonly onOutput?: ToolContext['onOutput']
  readonly edits?: EditSink
}

export function makeContext(place: Place, options: ContextOptions): ToolContext {
  return {
    cwd: place.workspace,
    home: place.home,
    policy: {
      mode: options.mode,
      workspace: place.workspace,
      docsFolder: place.docs,
      cassHome: place.cassHome,
    },
    edits: options.edits ?? makeEdits(place),
    shellEnvironment: { PATH: process.env.PATH ?? '', HOME: place.home, ...options.environment },
    signal: options.signal ?? new AbortController().signal,
    onOutput: (stream, content) => {
      place.output.push({ stream, content })
      options.onOutput?.(stream, content)
    },
    holdWorkspace: async () => {
      place.holds.push('hold')
      return async () => {
        place.holds.push('end')
      }
    },
  }
}

/** Files that are really read and written; a file that changed in between is refused. */
export function makeEdits(place: Place): EditSink {
  return {
    observe,
    publish: async ({ realPath, observed, bytes }) => {
      const now = await observe(realPath)
      if (now.sha256 !== observed.sha256 || now.mode !== observed.mode) {
        throw new CassError('file_changed', `file changed after it was read: '${realPath}'`)
      }
      await mkdir(path.dirname(realPath), { recursive: true })
      await writeFile(realPath, bytes)
      if (observed.mode !== null) await chmod(realPath, observed.mode)
      place.published.push(realPath)
    },
  }
}

async function observe(realPath: string): Promise<ObservedFile> {
  try {
    const found = await stat(realPath)
    if (!found.isFile()) throw new CassError('not_a_file', `not a file: '${realPath}'`)
    const bytes = await readFile(realPath)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { exists: true, bytes, sha256, mode: found.mode & 0o777 }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    return { exists: false, bytes: null, sha256: null, mode: null }
  }
}
