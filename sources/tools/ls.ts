import { lstat, readdir, readlink, stat } from 'node:fs/promises'
import path from 'node:path'
import * as t from 'typanion'
import { errnoOf } from '../errors.ts'
import { parseInput } from './input.ts'
import { limits } from './limits.ts'
import { showName } from './names.ts'
import { runGuarded, succeed, ToolFailure } from './outcome.ts'
import { readablePath } from './paths.ts'
import type { Tool } from './tool.ts'

const isInput = t.isPartial({ path: t.isOptional(t.isString()) })

/** Lists one folder. */
export const ls: Tool = {
  name: 'ls',
  description:
    'List one folder: each entry with its kind (dir, size, link). Hidden entries are included, nothing is recursive. ' +
    'In read-only and workspace-edit mode the path must be inside the workspace or the bundled docs folder; in ' +
    'full-access mode it may be anywhere but in the folder of cass itself. Names with unusual characters are shown quoted, with JSON escapes.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The folder; relative to the working directory. Default: .' },
    },
    required: ['path'],
    additionalProperties: false,
  },
  run: (input, context) =>
    runGuarded(context.signal, async () => {
      const { path: asked } = parseInput(isInput, input)
      const { real } = await readablePath(asked ?? '.', context)
      if (!(await stat(real)).isDirectory()) throw new ToolFailure(`not a directory: ${real}`)
      return succeed(await listFolder(real, context.signal))
    }),
}

interface Entry {
  readonly name: Buffer
  /** With `/` behind a folder; what is sorted. */
  readonly key: Buffer
  readonly isFolder: boolean
}

async function listFolder(folder: string, signal: AbortSignal): Promise<string> {
  const found = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  const entries = found
    .map((entry): Entry => {
      const isFolder = entry.isDirectory()
      return { name: entry.name, key: isFolder ? Buffer.concat([entry.name, slash]) : entry.name, isFolder }
    })
    .sort((a, b) => Buffer.compare(a.key, b.key))
  const names = entries.map(({ name, isFolder }) => showName(name) + (isFolder ? '/' : ''))
  const width = Math.min(Math.max(0, ...names.slice(0, 10_000).map((name) => [...name].length)), 48)
  const lines = [showName(folder)]
  let size = 0
  for (const [index, entry] of entries.entries()) {
    signal.throwIfAborted()
    if (size > limits.read) {
      lines.push(`… truncated by Cass: ${entries.length - index} more entries`)
      break
    }
    const name = names[index] ?? ''
    const kind = entry.isFolder ? 'dir' : await describeEntry(folder, entry.name)
    const line = `  ${name}${' '.repeat(Math.max(0, width - [...name].length))}  ${kind}`
    size += line.length
    lines.push(line)
  }
  return `${lines.join('\n')}\n`
}

const slash = Buffer.from('/')

async function describeEntry(folder: string, name: Buffer): Promise<string> {
  const full = Buffer.concat([Buffer.from(folder), Buffer.from(path.sep), name])
  try {
    const found = await lstat(full)
    if (found.isSymbolicLink()) return `link -> ${showName(await readlink(full, { encoding: 'buffer' }))}`
    if (found.isFile()) return formatSize(found.size)
    if (found.isDirectory()) return 'dir'
    return found.isFIFO() ? 'fifo' : found.isSocket() ? 'socket' : 'device'
  } catch (error) {
    // It may go away while the folder is listed, and some cannot be looked at; the others are still of use.
    return `unreadable (${errnoOf(error) ?? 'unknown error'})`
  }
}

/** A number of bytes as people read it. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  let value = bytes
  let unit = 'B'
  for (const next of ['KiB', 'MiB', 'GiB', 'TiB']) {
    if (value < 1024) break
    value /= 1024
    unit = next
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`
}
