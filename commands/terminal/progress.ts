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
  const calls = new Map<string, { readonly title: string; readonly changes: string[] }>()
  return (event) => {
    switch (event.type) {
      case 'session_started':
        print.progress(colours.dim(`${event.chat_id} · ${stripControls(event.model)} · ${event.access_mode}`))
        for (const path of event.instructions)
          print.progress(colours.dim(`instructions: ${stripControls(path)}`))
        break
      case 'tool_call_started':
        calls.set(event.id, { title: formatCall(event.name, event.arguments), changes: [] })
        break
      case 'file_changed':
        calls.get(event.tool_call_id)?.changes.push(`+${event.added} -${event.removed}`)
        break
      case 'tool_result': {
        const { title, changes } = calls.get(event.id) ?? { title: event.name, changes: [] }
        const mark = event.ok ? colours.green('✓') : colours.red('✗')
        const outcome = event.ok ? changes.join(' ') : firstLine(event.content)
        print.progress(
          `${mark} ${stripControls(title)}${outcome === '' ? '' : `  ${stripControls(outcome)}`}`,
        )
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
