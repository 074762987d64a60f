import { Option } from 'clipanion'
import { checkInstallation } from '../sources/session/checkInstallation.ts'
import { BaseCommand } from './base.ts'
import { makePlace } from './place.ts'
import { formatCheckReport } from './terminal/checkReport.ts'
import { makeColours } from './terminal/colours.ts'

/** `cass check`: is everything set up, and if not, what to do. */
export class CheckCommand extends BaseCommand {
  static override paths = [['check']]

  static override usage = BaseCommand.Usage({
    category: 'Porcelain',
    description: 'check configuration, provider and surroundings; changes nothing',
    details: `
      Every fault is reported at once, also when a file does not parse. Exit code 0 also with warnings, unless
      \`--strict\`. The network is left alone without \`--probe\`.
    `,
    examples: [
      ['Check everything that can be checked without the network', '$0 check'],
      ['Fail on warnings too, for continuous integration', '$0 check --strict --json'],
      ['Ask the provider for its models as well', '$0 check --probe'],
    ],
  })

  strict = Option.Boolean('--strict', false, { description: 'warnings fail as well' })
  probe = Option.Boolean('--probe', false, { description: 'ask the provider for its models' })
  model = Option.String('--model', { description: 'check with this model instead of the configured one' })
  baseUrl = Option.String('--base-url', { description: 'check with this base URL' })
  apiKeyEnv = Option.String('--api-key-env', { description: 'check with the key in this variable' })

  async execute(): Promise<number> {
    const { print, globals } = this.context
    const report = await checkInstallation(makePlace(this.context), {
      overrides: {
        model: this.model ?? null,
        base_url: this.baseUrl ?? null,
        api_key_env: this.apiKeyEnv ?? null,
        access_mode: null,
      },
      strict: this.strict,
      probe: this.probe,
      isInteractive: this.context.terminals.stdin && this.context.terminals.stdout,
    })
    if (globals.json) print.json(report)
    else print.styled(formatCheckReport(report, await makeColours(this.context, 'stdout')))
    return report.ok ? 0 : 1
  }
}
