import { Option } from 'clipanion'
import { resolveSpec } from '../sources/session/resolveSpec.ts'
import { BaseCommand } from './base.ts'
import { makePlace } from './place.ts'

/** `cass resolve`: the full id behind a selector. */
export class ResolveCommand extends BaseCommand {
  static override paths = [['resolve']]

  static override usage = BaseCommand.Usage({
    category: 'Plumbing',
    description: 'print the full checkpoint id or chat id that a selector means',
    details: `
      A branch is named by chat id, name or a unique beginning of either; \`@\` is the current one. \`BRANCH~N\` is the
      branch before its last N turns, \`BRANCH:INDEX\` a record, \`^ID\` a message.
    `,
    examples: [
      ['The current branch', '$0 resolve @'],
      ['The checkpoint before its last two turns', '$0 resolve @~2'],
    ],
  })

  spec = Option.String({ name: 'SPEC' })

  async execute(): Promise<number> {
    const { print, globals } = this.context
    const resolved = await resolveSpec(makePlace(this.context), this.spec)
    if (globals.json) print.json(resolved)
    else print.data(resolved.id)
    return 0
  }
}
