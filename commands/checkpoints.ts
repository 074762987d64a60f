import { Option } from 'clipanion'
import * as t from 'typanion'
import type { Checkpoint, CheckpointKind } from '../sources/conversation/checkpoints.ts'
import { listCheckpoints } from '../sources/session/listCheckpoints.ts'
import { usageError } from './argv.ts'
import { BaseCommand } from './base.ts'
import { isCount } from './options.ts'
import { makePlace } from './place.ts'
import type { Row } from './terminal/printer.ts'

/** `cass checkpoints`: the places of a branch where another one can begin. */
export class CheckpointsCommand extends BaseCommand {
  static override paths = [['checkpoints']]
  static override readonly printsList = true

  static override usage = BaseCommand.Usage({
    category: 'Plumbing',
    description: 'list the checkpoints of a branch, oldest first',
    details: `
      Columns: id, kind, time, label, detail. The kinds are start, user, assistant, tool_call and tool_result; the start
      is listed only when it is asked for.
    `,
    examples: [
      ['All checkpoints of the current branch', '$0 checkpoints'],
      ['Where the user spoke', '$0 checkpoints --kind user'],
      ['The tool calls of a branch, for a script', '$0 checkpoints retry --kind tool_call,tool_result -z'],
    ],
  })

  family = Option.Boolean('--family', false, { description: "other branches' own checkpoints too" })
  kind = Option.String('--kind', { description: 'only these kinds, separated by commas' })
  limit = Option.String('--limit', { description: 'only the last N', validator: isCount })
  branch = Option.String({ name: 'BRANCH', required: false })

  async execute(): Promise<number> {
    const { print, globals } = this.context
    const listed = await listCheckpoints(makePlace(this.context), {
      branch: this.branch ?? null,
      family: this.family,
      kinds: this.kind === undefined ? null : parseKinds(this.kind),
      limit: this.limit ?? null,
    })
    this.warnOfUnreadable(listed.unreadable)
    if (globals.json) print.json(listed)
    else
      print.records(
        rowsOf(listed.checkpoints),
        // The id says the kind too, and the label the same in words.
        { dropped: [2, 1, 3] },
      )
    return 0
  }
}

function* rowsOf(checkpoints: ReadonlyArray<Checkpoint>): Generator<Row> {
  for (const { id, kind, ts, label, detail } of checkpoints) yield [id, kind, ts, label, detail]
}

const isKind = t.isEnum(['start', 'user', 'assistant', 'tool_call', 'tool_result'])

function parseKinds(text: string): CheckpointKind[] {
  return text.split(',').map((kind) => {
    if (isKind(kind)) return kind
    throw usageError(
      `'${kind}' is no kind of checkpoint`,
      'use start, user, assistant, tool_call or tool_result',
    )
  })
}
