import path from 'node:path'
import { expect } from 'vitest'
import { Journal, type JournalPlace } from '../../../sources/edits/journal.ts'
import { observeTracked } from '../../../sources/edits/observe.ts'
import { runCall } from '../../../sources/tools/registry.ts'
import type { ToolOutcome } from '../../../sources/tools/tool.ts'
import { holdWhole } from '../../../sources/workspace/hold.ts'
import type { AccessMode } from '../../../sources/workspace/policy.ts'
import { makeSink, newId, noWait, readLines, type SinkChanges, tempFiles, testTime } from '../edits/_place.ts'

interface CallOptions extends SinkChanges {
  readonly mode?: AccessMode
}

/** One call, decided and run as in a turn: with a sink of its own that keeps its promises to the journal. */
export async function call(
  place: JournalPlace,
  name: string,
  input: object,
  { mode = 'workspace-edit', ...changes }: CallOptions = {},
): Promise<ToolOutcome> {
  const { home, workspace } = place
  const context = {
    cwd: workspace.root,
    home: path.dirname(workspace.root),
    policy: { mode, workspace: workspace.root, docsFolder: path.join(home, 'docs-cass'), cassHome: home },
    edits: makeSink(place, changes),
    shellEnvironment: { PATH: process.env.PATH ?? '' },
    signal: new AbortController().signal,
    onOutput: () => {},
    holdWorkspace: async () => {
      const hold = await holdWhole({ home, key: workspace.key }, noWait)
      await observeTracked({
        ...{ journal: new Journal(place), family: new Set(['conv']), maxFileBytes: 1 << 20, wait: null },
        ...{ attribution: { writer: 'w1', chat_id: 'chat', conversation: 'conv', turn: 't1' } },
        ...{ isWriterAlive: async () => true, isMessageInLog: async () => false, now: () => testTime, newId },
      })
      return () => hold.release()
    },
  }
  return await runCall({ name, input }, context, true)
}

export const write = (place: JournalPlace, file: string, content: string, options?: CallOptions) =>
  call(place, 'write', { path: file, content }, options)

export const edit = (place: JournalPlace, file: string, changes: [string, string][], options?: CallOptions) =>
  call(
    place,
    'edit',
    { path: file, edits: changes.map(([old_text, new_text]) => ({ old_text, new_text })) },
    options,
  )

/** The types of the journal's lines with their paths, and no temporary file left anywhere. */
export function told(place: JournalPlace): string[] {
  expect(tempFiles(place.workspace.root)).toEqual([])
  return readLines(place).map(({ type, path: file }) => `${type} ${file ?? ''}`.trim())
}
