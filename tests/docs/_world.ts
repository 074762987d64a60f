import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Provider, startProvider } from '../../fixtures/provider/server.mjs'
import { makeSandbox, program } from '../_cass.ts'
import { type Block, repository } from './_pages.ts'

const configNames = ['providers.json', 'models.json', 'config.json', 'settings.json']
/** What pages without files of their own are run with. */
const defaultFiles: Readonly<Record<string, string>> = {
  'providers.json': JSON.stringify({
    providers: [
      {
        id: 'local',
        name: 'Local',
        kind: 'openai-compatible',
        base_url: 'http://localhost:8080/v1',
        default_model: 'scripted',
      },
    ],
  }),
}

/** Where the examples of a page are run: a home with `cass` on PATH and a small project, and a scripted provider. */
export interface World {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Texts of this world, and what pages call them. */
  readonly places: ReadonlyArray<readonly [string, string]>
  /** A command of a page, as it works here. */
  adapt(command: string): string
  close(): Promise<void>
}

/** Makes the world of a page; its `json` blocks that are named as configuration files are the configuration. */
export async function makeWorld(blocks: ReadonlyArray<Block>): Promise<World> {
  const sandbox = makeSandbox()
  const script = JSON.parse(readFileSync(join(repository, 'fixtures/documentation/model.json'), 'utf8'))
  const provider: Provider = await startProvider({ script })
  const own = blocks.filter(({ language, info }) => language === 'json' && configNames.includes(info))
  const files =
    own.length === 0 ? defaultFiles : Object.fromEntries(own.map(({ info, text }) => [info, text]))
  const shownUrl =
    /"base_url": ?"([^"]+)"/.exec(files['providers.json'] ?? '')?.[1] ?? 'http://localhost:8080/v1'
  const configFolder = join(sandbox.home, '.cass')
  mkdirSync(configFolder, { mode: 0o700 })
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(configFolder, name), text.replaceAll(shownUrl, provider.url), { mode: 0o600 })
  const bin = join(sandbox.folder, 'bin')
  mkdirSync(bin)
  // As a package manager would do it.
  symlinkSync(program, join(bin, 'cass'))
  const project = join(sandbox.home, 'shop')
  cpSync(join(repository, 'fixtures/sample-project'), project, { recursive: true })
  const { CASS_HOME, ...env } = sandbox.env
  const host = (url: string) => new URL(url).host
  return {
    cwd: project,
    env: {
      ...env,
      PATH: `${bin}:${join(process.execPath, '..')}:${env.PATH}`,
      OPENAI_API_KEY: 'sk-of-the-examples',
      REPOSITORY: repository,
    },
    places: [
      [provider.url, shownUrl],
      [host(provider.url), host(shownUrl)],
      [sandbox.home, '/home/you'],
      [sandbox.folder, '/scratch'],
    ],
    adapt: (command) => command.replaceAll('http://localhost:8080/v1', provider.url),
    async close() {
      await provider.close()
      sandbox.remove()
    },
  }
}
