import { Option } from 'clipanion'
import { showCheckpoint } from '../sources/session/showCheckpoint.ts'
import { BaseCommand } from './base.ts'
import { makePlace } from './place.ts'
import { formatRecord } from './terminal/record.ts'

/** `cass show`: one checkpoint in full. */
export class ShowCommand extends BaseCommand {
  static override paths = [['show']]

  static override usage = BaseCommand.Usage({
    category: 'Plumbing',
    description: 'print the record of a checkpoint in full, and the files it changed',
    details:
      'The record is printed uncut, as it is stored. With `--diff`, each changed file with its unified diff.',
    examples: [
      ['The last record of the current branch', '$0 show @'],
      ['What a tool call changed', '$0 show @:6 --diff'],
    ],
  })

  diff = Option.Boolean('--diff', false, { description: 'the diffs of the changed files too' })
  checkpoint = Option.String({ name: 'CHECKPOINT' })

  async execute(): Promise<number> {
    const { print, globals } = this.context
    const request = { spec: this.checkpoint, diff: this.diff }
    const shown = await showCheckpoint(makePlace(this.context), request)
    if (globals.json) {
      print.json(shown)
      return 0
    }
    const { id, label, ts } = shown.checkpoint
    print.data(`checkpoint ${id}\nlabel ${label}\ntime ${ts}\n\n${formatRecord(shown.record)}`)
    for (const { path, before, after, diff } of shown.changes) {
      const what = before.exists ? (after.exists ? 'changed' : 'deleted') : 'created'
      print.data(`\n${what} ${path}${diff === null ? '' : `\n${diff}`}`)
    }
    return 0
  }
}
