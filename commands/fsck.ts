import { Option } from 'clipanion'
import { checkConversations } from '../sources/session/checkConversations.ts'
import { BaseCommand } from './base.ts'
import { makePlace } from './place.ts'

/** `cass fsck`: whether everything stored can still be read. */
export class FsckCommand extends BaseCommand {
  static override paths = [['fsck']]
  static override readonly words = '[CONVERSATION…]'
  static override readonly printsList = true

  static override usage = BaseCommand.Usage({
    category: 'Plumbing',
    description: 'check stored conversations for damage; changes nothing',
    details: `
      Columns: severity, code, subject, message and effect. A note is nothing lost; damage ends the command with exit
      code 3.
    `,
    examples: [
      ['Check all conversations', '$0 fsck'],
      ['Check one, for a script', '$0 fsck 2026-06-25-101533-a_-9 --json'],
    ],
  })

  conversations = Option.Rest({ name: 'CONVERSATION' })

  async execute(): Promise<number> {
    const { print, globals } = this.context
    const report = await checkConversations(makePlace(this.context), { conversations: this.conversations })
    if (globals.json) print.json(report)
    else {
      print.records(
        report.findings.map(({ severity, code, subject, message, effect }) => [
          ...[severity, code, subject, `${message}; ${effect}`],
        ]),
        { dropped: [1] },
      )
      const { conversations, messages } = report.checked
      print.note(`checked ${conversations} conversations with ${messages} messages`)
    }
    return report.findings.some(({ severity }) => severity === 'damage') ? 3 : 0
  }
}
