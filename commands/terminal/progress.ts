import type { TurnEvent } from '../../sources/agent/events.ts'
import { NOBODY_TO_APPROVE } from '../../sources/agent/notices.ts'
import type { Colours } from './colours.ts'
import type { Printer } from './printer.ts'
import { firstLine, formatCall, readShellEnd } from './record.ts'
import { stripControls } from './text.ts'

/**
 * Shows a turn on stderr, one line for each tool call with what it did. Text and reasoning are not shown here: the
 * answer is data. What it gives must not throw, since the agent calls it.
 */
export function makeProgress(print: Printer, colours: Colours): (event: TurnEvent) => void {
  const titles = new Map<string, string>()
  // A call's changes are told behind its result, so its line waits for the next event of another kind.
  let ended: (CallEnd & { readonly changes: string[] }) | null = null
  const flush = () => {
    if (ended !== null) {
      print.progress([ended.line, ...ended.changes].join('  '))
      for (const line of ended.output) print.progress(colours.dim(`    ${line}`))
    }
    ended = null
  }
  return (event) => {
    if (event.type === 'file_changed') {
      ended?.changes.push(`+${event.added} -${event.removed}`)
      return
    }
    flush()
    switch (event.type) {
      case 'session_started':
        print.progress(colours.dim(`${event.chat_id} · ${stripControls(event.model)} · ${event.access_mode}`))
        for (const path of event.instructions)
          print.progress(colours.dim(`instructions: ${stripControls(path)}`))
        break
      case 'tool_call_started':
        titles.set(event.id, formatCall(event.name, event.arguments))
        break
      case 'tool_result':
        ended = { ...formatEnd(event, titles.get(event.id) ?? event.name, colours), changes: [] }
        break
      case 'status':
      case 'notice':
        print.note(event.text)
        break
      case 'error':
        print.error(event.message, event.hint)
        break
      default:
        break
    }
  }
}

interface CallEnd {
  readonly line: string
  /** The last lines of a shell command that failed. */
  readonly output: ReadonlyArray<string>
}

const shownLines = 6

function formatEnd(
  { name, ok, content }: Extract<TurnEvent, { readonly type: 'tool_result' }>,
  title: string,
  colours: Colours,
): CallEnd {
  const shown = stripControls(title)
  const end = name === 'shell' ? readShellEnd(content) : null
  const failed = end !== null && (!ok || end.exitCode !== 0)
  const output = failed ? end.output.slice(-shownLines).map(stripControls) : []
  if (!ok) {
    const reason = content === NOBODY_TO_APPROVE ? needsApproval(name) : stripControls(firstLine(content))
    // Its first line says that time was up, and is no output.
    return {
      line: `${colours.red('✗')} ${shown}  ${reason}`,
      output: output.filter((line) => line !== reason),
    }
  }
  if (!failed) return { line: `${colours.green('✓')} ${shown}`, output }
  // The tool did its work; the command did not.
  return { line: `${colours.yellow('!')} ${shown}  ${colours.yellow(`exit ${end.exitCode}`)}`, output }
}

function needsApproval(name: string): string {
  return `needs approval: pass --approve ${name === 'shell' ? 'shell' : 'all'}`
}
