import { Option } from 'clipanion'
import { countElsewhere } from '../sources/session/countElsewhere.ts'
import { listChats } from '../sources/session/listChats.ts'
import { BaseCommand } from './base.ts'
import { makePlace } from './place.ts'

/** `cass chats`: the conversations of a folder. */
export class ChatsCommand extends BaseCommand {
  static override paths = [['chats']]
  static override readonly printsList = true

  static override usage = BaseCommand.Usage({
    category: 'Porcelain',
    description: 'list the conversations of this folder, newest activity first',
    details: `
      Columns: chat id of the current branch, created, model, branches, first line of the first message.
      \`cass --resume\` without an id prints the same.
    `,
    examples: [
      ['The conversations of this folder', '$0 chats'],
      ['Those of all folders that mention a word', '$0 chats --all --search parser'],
    ],
  })

  all = Option.Boolean('--all', false, { description: 'the conversations of all folders' })
  search = Option.String('--search', { description: 'only conversations that contain this text' })

  async execute(): Promise<number> {
    const { print, globals, cwd } = this.context
    const place = makePlace(this.context)
    const listed = await listChats(place, { all: this.all, search: this.search ?? null })
    this.warnOfUnreadable(listed.unreadable)
    if (globals.json) print.json(listed)
    else {
      print.records(
        listed.chats.map(({ chat_id, created_at, model, branches, preview }) => [
          ...[chat_id, created_at, model, branches, preview],
        ]),
        { dropped: [1, 3, 2] },
      )
      if (listed.chats.length === 0) {
        if (this.search !== undefined) print.note(`no chat found that contains '${this.search}'`)
        else {
          print.note(`no chats found for '${cwd}'`)
          this.noteElsewhere(countElsewhere(place))
        }
      }
    }
    return 0
  }
}
