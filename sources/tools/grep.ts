import { stat } from 'node:fs/promises'
import path from 'node:path'
import * as t from 'typanion'
import { RipgrepMissing, searchWithRipgrep } from './grepRipgrep.ts'
import { searchWithScript } from './grepScript.ts'
import type { GrepEngine, GrepFile, GrepSearch } from './grepSearch.ts'
import { parseInput } from './input.ts'
import { limits } from './limits.ts'
import { showName } from './names.ts'
import { runGuarded, succeed, ToolFailure } from './outcome.ts'
import { makeMayShow, readablePath } from './paths.ts'
import type { Tool, ToolContext } from './tool.ts'

const isInput = t.isPartial({
  query: t.isString(),
  paths: t.isOptional(t.isArray(t.isString())),
  regex: t.isOptional(t.isBoolean()),
  case_sensitive: t.isOptional(t.isBoolean()),
  context_lines: t.isOptional(t.isNumber()),
  max_matches: t.isOptional(t.isNumber()),
})

/** Makes the search tool over engines that are tried in turn; the next one when one cannot be started. */
export function makeGrep(engines: ReadonlyArray<GrepEngine>): Tool {
  return {
    name: 'grep',
    description:
      'Search file contents line by line, for a literal text or a regular expression. Use it first for large or unknown ' +
      'inputs, then read the lines around a match. Hidden files are searched; ignored files (.gitignore), binary files, ' +
      'files over 64 MiB and folders named .git, node_modules, target, vendor or .cache are not, unless a path names ' +
      'them. Paths must be inside the workspace or the bundled docs folder in read-only and workspace-edit mode; ' +
      'full-access mode searches anywhere but in the folder of cass itself. Results are sorted by path and stop at max_matches.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        paths: { type: 'array', items: { type: 'string' }, description: 'Files or folders. Default: ["."]' },
        regex: { type: 'boolean', description: 'The query is a regular expression. Default: false' },
        case_sensitive: { type: 'boolean', description: 'Default: false' },
        context_lines: { type: 'integer', description: 'Lines around each match, at most 5. Default: 0' },
        max_matches: { type: 'integer', description: '1 to 1000. Default: 100' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    run: (input, context) =>
      runGuarded(context.signal, async () => {
        const search = await makeSearch(parseInput(isInput, input), context)
        for (const engine of engines) {
          try {
            return succeed(await collect(engine(search, context.signal), search, makeMayShow(context)))
          } catch (error) {
            if (!(error instanceof RipgrepMissing)) throw error
          }
        }
        throw new Error('Assertion failed: no search engine can be started')
      }),
  }
}

/** Searches with the ripgrep that was installed with the program. */
export const bundledRipgrep: GrepEngine = async function* (search, signal) {
  const program = await findBundledRipgrep()
  yield* searchWithRipgrep(program, search, signal)
}

/** Searches with the ripgrep of the system. */
export const systemRipgrep: GrepEngine = (search, signal) => searchWithRipgrep('rg', search, signal)

async function findBundledRipgrep(): Promise<string> {
  try {
    const { rgPath } = await import('@vscode/ripgrep')
    return rgPath
  } catch (error) {
    // The package throws on import where it has no program for this platform.
    throw new RipgrepMissing('the bundled ripgrep is not installed', { cause: error })
  }
}

/** Searches file contents. */
export const grep: Tool = makeGrep([bundledRipgrep, systemRipgrep, searchWithScript])

async function makeSearch(input: t.InferType<typeof isInput>, context: ToolContext): Promise<GrepSearch> {
  const { query, paths = ['.'], regex = false, case_sensitive: isCaseSensitive = false } = input
  if (query === '') throw new ToolFailure('grep query must not be empty')
  if (/[\n\r]/.test(query))
    throw new ToolFailure('grep matches line by line; the query must not have a line break')
  if (query.includes('\0')) throw new ToolFailure('grep searches text; the query must not have a NUL')
  const roots = new Set<string>()
  for (const asked of paths.length === 0 ? ['.'] : paths) {
    const { real } = await readablePath(asked, context)
    const found = await stat(real)
    if (!found.isDirectory() && !found.isFile()) throw new ToolFailure(`not a file or directory: ${real}`)
    if (found.isFile() && found.size > limits.grepFileBytes) {
      throw new ToolFailure(`too large to search: ${real}; read it by line range`)
    }
    roots.add(real)
  }
  return {
    query,
    isRegex: regex,
    isCaseSensitive,
    contextLines: clamp(input.context_lines ?? 0, 0, 5),
    mostMatches: clamp(input.max_matches ?? 100, 1, 1000),
    roots: [...roots].sort(comparePaths),
    closedFolder: context.policy.cassHome,
    home: context.home,
    environment: context.shellEnvironment,
  }
}

function clamp(value: number, low: number, high: number): number {
  return Number.isFinite(value) ? Math.min(high, Math.max(low, Math.trunc(value))) : low
}

/** As a sorted walk meets them: component by component, each by its bytes. */
function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split(path.sep), b.split(path.sep)]
  const at = left.findIndex((part, index) => part !== right[index])
  if (at === -1) return left.length - right.length
  if (right[at] === undefined) return 1
  return Buffer.compare(Buffer.from(left[at] ?? ''), Buffer.from(right[at]))
}

/** The result as the model gets it, up to the limits on matches and size. */
async function collect(
  files: AsyncGenerator<GrepFile>,
  search: GrepSearch,
  mayShow: (file: string) => Promise<boolean>,
): Promise<string> {
  const seen = new Set<string>()
  let content = ''
  let count = 0
  for await (const file of files) {
    const name = showName(file.path)
    // A file that one path names may lie below another one.
    if (seen.has(name) || !(await mayShow(file.path.toString('utf8')))) continue
    seen.add(name)
    for (const [number, { isMatch }] of file.lines) {
      if (!isMatch) continue
      if (count === search.mostMatches) return `${content}… stopped after ${count} matches\n`
      const block = formatMatch(name, number, file, search.contextLines)
      if (content.length + block.length > limits.grep) {
        return `${content}… stopped after ${count} matches: the output has no room for more; narrow the query or paths\n`
      }
      content += block
      count += 1
    }
  }
  return count === 0 ? 'no matches' : content
}

function formatMatch(name: string, number: number, { lines }: GrepFile, around: number): string {
  if (around === 0) return `${name}:${number}: ${lines.get(number)?.text ?? ''}\n`
  let block = `--- ${name}:${number} ---\n`
  for (let at = number - around; at <= number + around; at += 1) {
    const line = lines.get(at)
    if (line !== undefined) block += `${at === number ? '>' : ' '}${String(at).padStart(6)} | ${line.text}\n`
  }
  return block
}
