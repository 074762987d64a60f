import { isJsonObject, tryParseJson } from '../conversation/json.ts'
import { parseReadSections } from './readSections.ts'

/** Where a tool result comes from: the call that made it. */
export interface ResultOrigin {
  readonly name: string
  /** The JSON text of the call's arguments. */
  readonly arguments: string
}

/** Why a result is shortened: it is over the configured limit, or the whole request is over the model's context. */
export type ShortenReason = { readonly type: 'limit'; readonly limit: number } | { readonly type: 'context' }

const MAX_COMMAND_SHOWN = 160
const SECRET_WORDS = /api_key|apikey|authorization|bearer|password|secret|token/i

const GUIDANCE: Readonly<Record<string, string>> = {
  read: 'To see omitted lines, read a narrower line range, or find them with `grep` first.',
  grep: 'Search again with a narrower query/path, then `read` around specific matching lines.',
  shell:
    'Run it again and filter output with grep/head/tail, or read the lines you need, before making edits from omitted lines.',
  ls: 'List a folder further down instead.',
}
const OTHER_GUIDANCE = 'Look again with a narrower request before relying on the omitted part.'

/**
 * A tool result cut to about `target` characters of head and tail, with a notice of what it was and how to get the
 * rest; for the model only. The text itself when that would not be shorter.
 */
export function shortenResult(
  content: string,
  { target, origin, reason }: { target: number; origin: ResultOrigin; reason: ShortenReason },
): string {
  if (content.length <= target) return content
  const head = Math.ceil((target * 2) / 3)
  const tail = target - head
  const verb = reason.type === 'limit' ? 'truncated' : 'compacted'
  const why =
    reason.type === 'limit'
      ? `because it exceeded the configured \`model_tool_result_limit\` of ${reason.limit} characters`
      : 'to fit the model context'
  const notice = [
    `Cass ${verb} this tool output (originally ${content.length} characters) ${why}.`,
    `Tool: \`${origin.name}\`.`,
    `Retained excerpt shape: first ${head} and last ${tail} characters.`,
    provenance(content, origin),
    GUIDANCE[origin.name] ?? OTHER_GUIDANCE,
  ]
  const shortened = `[${notice.filter((part) => part !== '').join(' ')}]\n${excerpt(content, head, tail)}`
  return shortened.length < content.length ? shortened : content
}

/** A text of the user or the model cut to about `target` characters, with a notice. The text itself when not shorter. */
export function shortenText(
  content: string,
  { target, subject }: { target: number; subject: string },
): string {
  if (content.length <= target) return content
  const head = Math.ceil((target * 2) / 3)
  const notice = `[Cass shortened this ${subject} (originally ${content.length} characters) to fit the model context.]`
  const shortened = `${notice}\n${excerpt(content, head, target - head)}`
  return shortened.length < content.length ? shortened : content
}

function excerpt(content: string, head: number, tail: number): string {
  const parts = ['--- retained head excerpt ---', headOf(content, head), '--- omitted middle ---']
  if (tail > 0) parts.push('--- retained tail excerpt ---', tailOf(content, tail))
  return parts.join('\n')
}

// A cut never parts the two halves of a character.
function headOf(text: string, length: number): string {
  return /[\ud800-\udbff]/.test(text[length - 1] ?? '') ? text.slice(0, length - 1) : text.slice(0, length)
}

function tailOf(text: string, length: number): string {
  const start = text.length - length
  return text.slice(/[\udc00-\udfff]/.test(text[start] ?? '') ? start + 1 : start)
}

function provenance(content: string, origin: ResultOrigin): string {
  if (origin.name === 'read') return readProvenance(content, origin.arguments)
  if (origin.name === 'shell') return shellProvenance(origin.arguments)
  const stopped = origin.name === 'grep' ? /^… stopped after (\d+) matches/m.exec(content) : null
  return stopped === null ? '' : `The search had stopped after ${stopped[1]} matches.`
}

function readProvenance(content: string, args: string): string {
  const labels = parseReadSections(content).map(({ path, start, end }) => `${path} lines ${start}-${end}`)
  const [first, second] = labels
  if (first === undefined) return requestedFile(args)
  if (second === undefined) return `Source: ${first}.`
  if (labels.length === 2) return `Source: 2 read sections: ${first} and ${second}.`
  return `Source: ${labels.length} read sections including ${first} and ${second}.`
}

function requestedFile(args: string): string {
  const input = tryParseJson(args)
  const file: unknown = isJsonObject(input) && Array.isArray(input.files) ? input.files[0] : null
  if (!isJsonObject(file) || typeof file.path !== 'string') return ''
  return typeof file.lines === 'string'
    ? `Source: ${file.path} lines ${file.lines}.`
    : `Source: ${file.path}.`
}

function shellProvenance(args: string): string {
  const input = tryParseJson(args)
  if (!isJsonObject(input) || typeof input.command !== 'string') return ''
  const command = input.command.replace(/\s+/g, ' ').trim()
  if (SECRET_WORDS.test(command)) return 'Shell command: withheld, since it may name a secret.'
  if (command.length > MAX_COMMAND_SHOWN) return `Shell command: ${command.length} characters long.`
  return `Shell command: \`${command}\`.`
}
