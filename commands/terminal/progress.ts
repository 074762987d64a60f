import type { TurnEvent } from '../../sources/agent/events.ts'
import type { Colours } from './colours.ts'
import type { Printer } from './printer.ts'
import { firstLine, formatCall } from './record.ts'
import { stripControls } from './text.ts'

/**
 * Shows a turn on stderr, one line for each tool call with what it did. Text and reasoning are not shown here: the
 * answer is data. What it gives must not throw, since the agent calls it.
 */
export function makeProgress(print: Printer, colours: Colours): (event: TurnEvent) => void {
  const titles = new Map<string, string>()
  // A call's changes are told behind its result, so its line waits for the next event of another kind.
  let ended: { readonly line: string; readonly changes: string[] } | null = null
  const flush = () => {
    if (ended !== null) print.progress([ended.line, ...ended.changes].join('  '))
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
      case 'tool_result': {
        const mark = event.ok ? colours.green('✓') : colours.red('✗')
        const title = stripControls(titles.get(event.id) ?? event.name)
        const failure = event.ok ? '' : `  ${stripControls(firstLine(event.content))}`
        ended = { line: `${mark} ${title}${failure}`, changes: [] }
        break
      }
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
