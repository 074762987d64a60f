import { Option } from 'clipanion'
import { switchBranch } from '../sources/session/switchBranch.ts'
import { BaseCommand } from './base.ts'
import { makePlace } from './place.ts'

/** `cass switch`: makes a branch the current one of this folder. */
export class SwitchCommand extends BaseCommand {
  static override paths = [['switch']]

  static override usage = BaseCommand.Usage({
    category: 'Plumbing',
    description: 'make a branch the current one of this folder; never changes a file',
    details:
      'Prints the chat id of the branch. The next `cass run --continue` or `cass chat --continue` goes on there.',
    examples: [
      ['Switch by name', '$0 switch retry'],
      ['Switch by the beginning of a chat id', '$0 switch 2026-06-25-1015'],
    ],
  })

  branch = Option.String({ name: 'BRANCH' })

  async execute(): Promise<number> {
    const { print, globals } = this.context
    const switched = await switchBranch(makePlace(this.context), { branch: this.branch })
    const { chat_id, files_differ } = switched
    if (files_differ !== null && files_differ > 0) {
      const files = files_differ === 1 ? '1 file differs' : `${files_differ} files differ`
      print.note(`${files} from the end of that branch; no file was changed`)
    }
    if (globals.json) print.json(switched)
    else print.data(chat_id)
    return 0
  }
}
