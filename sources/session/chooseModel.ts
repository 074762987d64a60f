import type { ContextBudget } from '../agent/context.ts'
import { DEMO_MODEL_ID, makeDemoModel } from '../agent/demoModel.ts'
import type { Model, ModelRequest } from '../agent/model.ts'
import { readProxies } from '../agent/provider/proxies.ts'
import { requestReasoning } from '../config/effort.ts'
import { readConfigFiles } from '../config/files.ts'
import { resolveKey } from '../config/key.ts'
import { providerKeyVariables } from '../config/keyVariables.ts'
import { type ConfigOverrides, resolveConfig } from '../config/resolve.ts'
import { defaultSettings, type Settings } from '../config/settingsFile.ts'
import type { AccessMode } from '../workspace/policy.ts'
import { newMessageId, type Place } from './place.ts'

/** Who answers in a turn, and what holds for it. */
export interface ChosenModel {
  readonly model: Model
  readonly modelId: string
  readonly reasoning: ModelRequest['reasoning']
  readonly limits: ContextBudget
  readonly accessMode: AccessMode
  readonly confirmDestructive: boolean
  readonly settings: Settings
  /** The provider that models.json names for the model by mistake, so that what it says is not used; null: none. */
  readonly strayProvider: string | null
  /** Environment variables that hold keys; commands of the model do not get them. */
  readonly keyVariables: ReadonlyArray<string>
}

/** Between the pieces of the demo's answers, so that it looks like a model at work, in milliseconds. */
const demoPauseMs = 15

/** The configured model, or the demo. Throws what reading and resolving the configuration throws. */
export async function chooseModel(
  place: Place,
  { overrides, demo }: { readonly overrides: ConfigOverrides; readonly demo: boolean },
): Promise<ChosenModel> {
  return demo ? demoModel(place, overrides) : await configuredModel(place, overrides)
}

function demoModel({ env }: Place, overrides: ConfigOverrides): ChosenModel {
  return {
    model: makeDemoModel({ pauseMs: demoPauseMs }),
    modelId: DEMO_MODEL_ID,
    reasoning: null,
    limits: { context_length: null, max_output_tokens: null, message_limit: 80, tool_result_limit: 24_000 },
    accessMode: overrides.access_mode ?? 'workspace-edit',
    confirmDestructive: false,
    settings: defaultSettings,
    strayProvider: null,
    // The demo reads no configuration that would name them.
    keyVariables: Object.keys(env).filter((name) => /(_KEY|_TOKEN|_SECRET)$/i.test(name)),
  }
}

async function configuredModel(place: Place, overrides: ConfigOverrides): Promise<ChosenModel> {
  const { env } = place
  const files = await readConfigFiles(place.root)
  const config = resolveConfig({ files, overrides, env })
  const { metadata, settings } = config
  const key = resolveKey(config.key, env)
  const { makeOpenAiModel } = await import('../agent/provider/openAiModel.ts')
  const model = makeOpenAiModel({
    baseUrl: config.provider.base_url,
    key: key?.reveal() ?? null,
    maxRetries: settings.retries,
    timeouts: settings.requestTimeouts,
    proxies: readProxies(env),
    supportsTools: metadata?.supports_tools ?? true,
    supportsStreaming: metadata?.supports_streaming ?? true,
    userAgent: 'cass',
    makeCallId: () => `call_${newMessageId(place)}`,
    now: () => place.now().getTime(),
    random: () => (place.random(1)[0] ?? 0) / 256,
  })
  return {
    model,
    modelId: config.model,
    reasoning: requestReasoning(config.reasoning_effort, metadata),
    limits: {
      context_length: metadata?.context_length ?? null,
      max_output_tokens: metadata?.max_output_tokens ?? null,
      message_limit: config.context_message_limit,
      tool_result_limit: config.model_tool_result_limit,
    },
    accessMode: config.access_mode,
    confirmDestructive: config.confirm_destructive_operations,
    settings,
    strayProvider: config.stray_provider,
    keyVariables: providerKeyVariables({
      config: files.config,
      providers: files.providers,
      apiKeyEnv: overrides.api_key_env ?? null,
    }),
  }
}
