import * as t from 'typanion'
import { parseInput } from './input.ts'
import { runGuarded, succeed, ToolFailure } from './outcome.ts'
import { writablePath } from './paths.ts'
import { type Replacement, replaceAll } from './replace.ts'
import { type DecodedText, tryDecodeText, tryEncodeText } from './text.ts'
import type { Tool } from './tool.ts'
import { diffTexts } from './unifiedDiff.ts'

const isInput = t.isPartial({
  path: t.isString(),
  edits: t.isArray(t.isPartial({ old_text: t.isString(), new_text: t.isString() })),
})

/** Replaces exact pieces of a text file. */
export const edit: Tool = {
  name: 'edit',
  description:
    'Change an existing text file by exact replacements. Each old_text must stand in the file exactly once and must not ' +
    'overlap another one; include lines around it until it is unique, and keep it as short as that allows. All edits ' +
    'are matched against the file as it is; if one fails, nothing is written. Put all edits of one file into one call. ' +
    'Line ends may be written as LF also in CRLF files; encoding and everything outside the edits stay as they are. ' +
    'Inside the workspace in workspace-edit mode, anywhere in full-access mode, unavailable in read-only mode; the ' +
    'bundled docs folder, .git and the folder of cass itself are blocked. The result is a unified diff.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      edits: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: { old_text: { type: 'string' }, new_text: { type: 'string' } },
          required: ['old_text', 'new_text'],
          additionalProperties: false,
        },
      },
    },
    required: ['path', 'edits'],
    additionalProperties: false,
  },
  run: (input, context) =>
    runGuarded(context.signal, async () => {
      const { path, edits } = parseInput(isInput, input)
      if (edits.length === 0) throw new ToolFailure('edit requires at least one replacement')
      const { real } = await writablePath(path, context)
      const observed = await context.edits.observe(real)
      if (observed.bytes === null) throw new ToolFailure(`no such file: '${real}'; use write for a new file`)
      const decoded = tryDecodeText(observed.bytes)
      if (decoded === null) throw new ToolFailure(`binary files are unsupported: ${real}`)
      const { bytes, before, after } = applyEdits(decoded, observed.bytes, edits)
      const title = `applied ${edits.length} edit(s) to ${real}\n\n`
      if (bytes.equals(observed.bytes))
        return succeed(`${title}the file already was like this; nothing changed\n`)
      context.signal.throwIfAborted()
      await context.edits.publish({ realPath: real, observed, bytes })
      const { text, added, removed } = await diffTexts(real, before, after)
      return succeed(title + text, [{ path: real, added, removed }])
    }),
}

interface Applied {
  readonly bytes: Buffer
  readonly before: string
  readonly after: string
}

function applyEdits(decoded: DecodedText, original: Buffer, edits: ReadonlyArray<Replacement>): Applied {
  if (decoded.encoding !== 'latin-1') return applyDecoded(decoded, edits)
  try {
    return applyDecoded(decoded, edits)
  } catch (error) {
    // A file that is UTF-8 but for a few bytes: the texts are looked for as the bytes they are in UTF-8.
    const isPlain = edits.every(({ old_text: old }) => isAscii(old))
    if (!(error instanceof ToolFailure) || isPlain) throw error
    const asBytes = edits.map(({ old_text: old, new_text: put }) => ({
      old_text: utf8Bytes(old),
      new_text: utf8Bytes(put),
    }))
    try {
      const after = replaceAll(original.toString('latin1'), asBytes)
      const bytes = Buffer.from(after, 'latin1')
      return { bytes, before: original.toString('utf8'), after: bytes.toString('utf8') }
    } catch {
      // Not there either: the first error speaks of the text as it is shown.
      throw error
    }
  }
}

function applyDecoded(decoded: DecodedText, edits: ReadonlyArray<Replacement>): Applied {
  const after = replaceAll(decoded.text, edits)
  const bytes = tryEncodeText(after, decoded)
  if (bytes === null) {
    throw new ToolFailure(
      'new_text has characters that the encoding of the file, Latin-1, does not have; nothing written',
    )
  }
  return { bytes, before: decoded.text, after }
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

function utf8Bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}
