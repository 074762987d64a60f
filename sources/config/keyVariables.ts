import type { ConfigFile } from './configFile.ts'
import type { Provider } from './providersFile.ts'

/** The names of all environment variables that hold provider keys; what runs for the model must not see them. */
export function providerKeyVariables({
  config,
  providers,
  apiKeyEnv,
}: {
  readonly config: ConfigFile
  readonly providers: ReadonlyArray<Provider>
  /** The value of `--api-key-env`; null without it. */
  readonly apiKeyEnv: string | null
}): ReadonlyArray<string> {
  const names = [apiKeyEnv, config.api_key_env, ...providers.map((provider) => provider.api_key.variable)]
  return [...new Set(names.flatMap((name) => (name === null || name === '' ? [] : [name])))].sort()
}
