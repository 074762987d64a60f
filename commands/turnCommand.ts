import { setMaxListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { Option } from 'clipanion'
import type { Place } from '../sources/session/place.ts'
import { prepareDemo } from '../sources/session/prepareDemo.ts'
import type { AccessMode } from '../sources/workspace/policy.ts'
import { BaseCommand } from './base.ts'
import { refuseTogether } from './options.ts'
import { makePlace } from './place.ts'

// Node parses HTTP with WebAssembly. Making that faster than any model can answer would cost 30 MB and a busy core.
setFlagsFromString('--liftoff-only')
// Every tool call listens for a cancel, and one answer may hold thousands: that is no leak to warn of.
setMaxListeners(0)

/** What stands in the way of the configured provider and access mode for one run; null: as configured. */
export interface Overrides {
  readonly model: string | null
  readonly base_url: string | null
  readonly api_key_env: string | null
  readonly access_mode: AccessMode | null
}

/** The options that `run` and `chat` share. */
export abstract class TurnCommand extends BaseCommand {
  continue = Option.Boolean('-c,--continue', false, { description: 'go on with the current branch' })
  model = Option.String('--model', { description: 'another model for this run' })
  baseUrl = Option.String('--base-url', { description: 'another base URL for this run' })
  apiKeyEnv = Option.String('--api-key-env', { description: 'the variable that holds the API key' })
  readonly = Option.Boolean('--readonly', false, { description: 'tools may read, and change nothing' })
  workspaceEdit = Option.Boolean('--workspace-edit', false, {
    description: 'tools may change files in this folder',
  })
  fullAccess = Option.Boolean('--full-access', false, { description: 'tools may do what you may do' })
  demo = Option.Boolean('--demo', false, {
    description: 'the demo model in a scratch folder: no network, no key, none of your files',
  })

  protected readOverrides(): Overrides {
    refuseTogether({
      '--readonly': this.readonly,
      '--workspace-edit': this.workspaceEdit,
      '--full-access': this.fullAccess,
    })
    return {
      model: this.model ?? null,
      base_url: this.baseUrl ?? null,
      api_key_env: this.apiKeyEnv ?? null,
      access_mode: this.#accessMode(),
    }
  }

  /**
   * Where the turn happens: here, or with `--demo` in a scratch folder of its own; a turn that goes on with a branch stays
   * in that of an earlier demo.
   */
  protected async preparePlace({ goesOn }: { readonly goesOn: boolean }): Promise<Place> {
    const place = makePlace(this.context)
    if (!this.demo) return place
    const demo = await prepareDemo(place, { goesOn })
    this.context.print.note(`demo: working on a sample project in ${demo.cwd}`)
    return demo
  }

  #accessMode(): AccessMode | null {
    if (this.readonly) return 'read-only'
    if (this.workspaceEdit) return 'workspace-edit'
    return this.fullAccess ? 'full-access' : null
  }
}
