import * as t from 'typanion'
import { parseInput } from './input.ts'
import { bounded, limits } from './limits.ts'
import { parseLineRange } from './lineRange.ts'
import { showName } from './names.ts'
import { describeError, fail, isExpected, runGuarded, succeed, ToolFailure } from './outcome.ts'
import { readablePath } from './paths.ts'
import { readLines } from './readLines.ts'
import { describeText } from './text.ts'
import type { Tool, ToolContext } from './tool.ts'

const isInput = t.isPartial({
  files: t.isArray(
    t.isPartial({ path: t.isString(), lines: t.isOptional(t.isOneOf([t.isString(), t.isNumber()])) }),
  ),
})

type Asked = t.InferType<typeof isInput>['files'][number]

/** Reads files, whole or in ranges of lines. */
export const read: Tool = {
  name: 'read',
  description:
    'Read one or more text files, whole or by line range. Prefer grep first to find the lines that matter, then read ' +
    'just those. Lines are 1-indexed and shown as `number | text` under a header that names the file and the range. ' +
    'Output may be compacted or truncated: take it as incomplete then, and read a narrower range. Paths must be inside ' +
    'the workspace or the bundled docs folder in read-only and workspace-edit mode; full-access mode reads anywhere but in the ' +
    'folder of cass itself. ' +
    'A file that cannot be read does not stop the others.',
  parameters: {
    type: 'object',
    properties: {
      files: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            lines: { type: 'string', description: '35-60, 35- (to the end), -60 (from the start), or 35' },
          },
          required: ['path'],
          additionalProperties: false,
        },
      },
    },
    required: ['files'],
    additionalProperties: false,
  },
  run: (input, context) =>
    runGuarded(context.signal, async () => {
      const { files } = parseInput(isInput, input)
      if (files.length === 0) throw new ToolFailure('read requires at least one file')
      const sections: string[] = []
      const failures: string[] = []
      let room: number = limits.read
      for (const [index, file] of files.entries()) {
        if (room <= 0) {
          sections.push(
            `… truncated by Cass: the output has no room for ${files.length - index} more files\n`,
          )
          break
        }
        const section = await readSection(file, context, room)
        room -= section.content.length
        sections.push(section.content)
        if (!section.ok) failures.push(section.content)
      }
      return failures.length === sections.length ? fail(failures.join('')) : succeed(sections.join(''))
    }),
}

/** One file of a call; a failure is a section as well, so that the others are of use. */
async function readSection(
  file: Asked,
  context: ToolContext,
  room: number,
): Promise<{ ok: boolean; content: string }> {
  try {
    return { ok: true, content: await readFileLines(file, context, room) }
  } catch (error) {
    context.signal.throwIfAborted()
    if (!isExpected(error)) throw error
    return {
      ok: false,
      content: `${bounded(`error: cannot read '${file.path}': ${describeError(error)}`, limits.error)}\n`,
    }
  }
}

async function readFileLines(
  { path, lines: asked }: Asked,
  context: ToolContext,
  room: number,
): Promise<string> {
  const range = parseLineRange(asked)
  const { real } = await readablePath(path, context)
  const found = await readLines(real, { range, room, signal: context.signal })
  if (found.lines.length === 0 && range.start > 1) {
    throw new ToolFailure(`line ${range.start} is beyond the end: ${real} has ${found.seen} lines`)
  }
  const last = range.start + found.lines.length - 1
  const text = [`--- ${showName(real)} lines ${range.start}-${last} ---`]
  const note = describeText(found, found.hasCrlf)
  if (note !== '') text.push(note)
  text.push(...found.lines.map((line, index) => `${String(range.start + index).padStart(6)} | ${line}`))
  if (found.isCut) {
    text.push(`… truncated by Cass: the output has no room for more; read on with lines ${last + 1}-`)
  }
  return `${text.join('\n')}\n`
}
