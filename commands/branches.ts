import { Option } from 'clipanion'
import { countElsewhere } from '../sources/session/countElsewhere.ts'
import { listBranches } from '../sources/session/listBranches.ts'
import { BaseCommand } from './base.ts'
import { makePlace } from './place.ts'

/** `cass branches`: the branches of the current family, or of the folder. */
export class BranchesCommand extends BaseCommand {
  static override paths = [['branches']]
  static override readonly printsList = true

  static override usage = BaseCommand.Usage({
    category: 'Plumbing',
    description: 'list the branches of the current conversation and its family',
    details: `
      Columns: \`*\` at the current branch, chat id, kind, name, parent, records, last activity, and where it was
      branched off.
    `,
    examples: [
      ['The branches of the current family', '$0 branches'],
      ['All branches of this folder, for a script', '$0 branches --all --json'],
      ['Also those that were retired', '$0 branches --retired'],
    ],
  })

  all = Option.Boolean('--all', false, { description: 'every conversation of the folder' })
  retired = Option.Boolean('--retired', false, { description: 'retired branches too' })

  async execute(): Promise<number> {
    const { print, globals, terminals } = this.context
    const place = makePlace(this.context)
    const listed = await listBranches(place, { all: this.all, retired: this.retired })
    this.warnOfUnreadable(listed.unreadable)
    if (globals.json) print.json(listed)
    else {
      // A main branch came from nowhere, so a terminal has room to say what it is about.
      const isForPeople = terminals.stdout && !globals.nul
      print.records(
        listed.branches.map((branch) => [
          ...[branch.chat_id === listed.current ? '*' : '', branch.chat_id, branch.kind, branch.name],
          ...[branch.parent, branch.records, branch.last_activity],
          branch.branch_from?.checkpoint_label ?? (isForPeople ? branch.preview : null),
        ]),
        { dropped: [6, 5, 2, 4] },
      )
      if (listed.branches.length === 0) {
        print.note('no branches yet; `cass run` or `cass chat` makes the first')
        this.noteElsewhere(countElsewhere(place))
      }
    }
    return 0
  }
}
