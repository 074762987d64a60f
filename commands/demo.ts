import { BaseCommand } from './base.ts'

/** `cass demo`: a guided tour. */
export class DemoCommand extends BaseCommand {
  static override paths = [['demo']]

  static override usage = BaseCommand.Usage({
    category: 'Porcelain',
    description: 'take a guided tour in a scratch workspace, with the demo model',
    details:
      'An edit, the checkpoints, a branch, and what is on disk. No network, no key, and none of your files.',
    examples: [
      ['The tour', '$0 demo'],
      ['The same, for reading at leisure', '$0 demo | less'],
    ],
  })

  async execute(): Promise<number> {
    return 0
  }
}
