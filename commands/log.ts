import { Option } from 'clipanion'
import { readBranchLog } from '../sources/session/readBranchLog.ts'
import { readFamilyTree } from '../sources/session/readFamilyTree.ts'
import { readPagerSetting } from '../sources/session/readPagerSetting.ts'
import { BaseCommand } from './base.ts'
import { isCount, refuseTogether } from './options.ts'
import { makePlace } from './place.ts'
import { makeColours } from './terminal/colours.ts'
import { formatTree } from './terminal/familyTree.ts'
import { formatLine, formatLog } from './terminal/log.ts'
import { choosePager, showInPager } from './terminal/pager.ts'

/** `cass log`: a branch as a person reads it. */
export class LogCommand extends BaseCommand {
  static override paths = [['log']]

  static override usage = BaseCommand.Usage({
    category: 'Porcelain',
    description: 'show a branch as a person reads it, oldest first',
    details: `
      On a terminal through the pager: \`CASS_PAGER\`, the setting \`pager\`, \`PAGER\`, else less. \`--graph\` shows the
      family as a tree, with the branches' names at the tips.
    `,
    examples: [
      ['The current branch', '$0 log'],
      ['Its last ten records, one line each', '$0 log -n 10 --oneline'],
      ['How the branches hang together', '$0 log --graph'],
    ],
  })

  last = Option.String('-n', { description: 'only the last N records', validator: isCount })
  oneline = Option.Boolean('--oneline', false, { description: 'one line for each record' })
  graph = Option.Boolean('--graph', false, { description: 'the family as a tree' })
  all = Option.Boolean('--all', false, { description: 'the system prompt and empty records too' })
  reverse = Option.Boolean('--reverse', false, { description: 'newest first' })
  branch = Option.String({ name: 'BRANCH', required: false })

  async execute(): Promise<number> {
    refuseTogether({ '--graph': this.graph, '--oneline': this.oneline })
    refuseTogether({ '--graph': this.graph, '-n': this.last !== undefined })
    const { print, globals } = this.context
    const place = makePlace(this.context)
    const branch = this.branch ?? null
    const colours = await makeColours(this.context, 'stdout')
    if (this.graph && !globals.json) {
      const tree = await readFamilyTree(place, { branch })
      this.warnOfUnreadable(tree.unreadable)
      await this.#show(formatTree(tree, colours))
      return 0
    }
    const log = await readBranchLog(place, { branch, last: this.last ?? null, all: this.all })
    const records = this.reverse ? log.records.toReversed() : log.records
    if (globals.json) print.json({ ...log, records })
    else if (this.oneline)
      await this.#show(records.map((record) => `${formatLine(record, colours)}\n`).join(''))
    else await this.#show(formatLog(records, colours))
    return 0
  }

  async #show(text: string): Promise<void> {
    const { print, terminals, env } = this.context
    const pager = terminals.stdout
      ? choosePager({ env, setting: await readPagerSetting(makePlace(this.context)) })
      : null
    if (pager === null || !(await showInPager(text, { pager, env }))) print.styled(text)
  }
}
