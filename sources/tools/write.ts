import * as t from 'typanion'
import { parseInput } from './input.ts'
import { runGuarded, succeed } from './outcome.ts'
import { writablePath } from './paths.ts'
import { tryDecodeText } from './text.ts'
import type { Tool } from './tool.ts'
import { countLines, diffTexts } from './unifiedDiff.ts'

const isInput = t.isPartial({ path: t.isString(), content: t.isString() })

/** Writes a whole file. */
export const write: Tool = {
  name: 'write',
  description:
    'Create a file, or replace all of its content; missing folders are created. For new files and full rewrites only: ' +
    'change existing files with edit. The content is written as it is, in UTF-8. Inside the workspace in ' +
    'workspace-edit mode, anywhere in full-access mode, unavailable in read-only mode; the bundled docs folder, .git ' +
    'and the folder of cass itself are blocked.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' }, content: { type: 'string' } },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  run: (input, context) =>
    runGuarded(context.signal, async () => {
      const { path, content } = parseInput(isInput, input)
      const { real } = await writablePath(path, context)
      const observed = await context.edits.observe(real)
      const bytes = Buffer.from(content, 'utf8')
      const said = `wrote ${bytes.length} bytes to ${real}`
      if (observed.bytes?.equals(bytes) === true)
        return succeed(`${said}\nthe file already was like this; nothing changed`)
      context.signal.throwIfAborted()
      await context.edits.publish({ realPath: real, observed, bytes })
      const { added, removed } = await countChanges(real, observed.bytes, bytes.toString('utf8'))
      return succeed(said, [{ path: real, added, removed }])
    }),
}

/** Lines added and removed; what is no text has none. */
async function countChanges(path: string, before: Buffer | null, after: string) {
  const old = before === null ? '' : tryDecodeText(before)?.text
  if (old === undefined || old === '') return { added: countLines(after), removed: 0 }
  return await diffTexts(path, old, after)
}
