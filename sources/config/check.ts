import { checkFiles } from './checkFiles.ts'
import { checkFolder } from './checkFolder.ts'
import { checkGit } from './checkGit.ts'
import { checkModels, type ListModels } from './checkModels.ts'
import { checkPath } from './checkPath.ts'
import { checkActive, checkInactive } from './checkProviders.ts'
import { type InspectedConfig, inspectConfigFiles, requireSound } from './files.ts'
import { type Finding, hasErrors, okFinding } from './finding.ts'
import type { Environment } from './key.ts'
import { nextSteps } from './nextSteps.ts'
import type { ConfigOverrides } from './resolve.ts'

/** What the caller knows of the machine. */
export interface PlatformFacts {
  /** As `process.platform` has it. */
  readonly os: string
  /** The system's own version. */
  readonly release: string
  readonly arch: string
  /** The version of Node. */
  readonly node: string
  /** Whether a person sits at both ends. */
  readonly isInteractive: boolean
  /** Paths under it are shown with `~`; null: unknown. */
  readonly home: string | null
  /** Our own file, to tell it from another `cass` on PATH; null: unknown. */
  readonly program: string | null
}

export interface CheckRequest {
  readonly root: string
  readonly cwd: string
  /** Where the workspace of that folder begins. */
  readonly workspace: string
  readonly env: Environment
  readonly overrides: ConfigOverrides
  readonly platform: PlatformFacts
  readonly probes: {
    /** Null: the network is not touched. */
    readonly listModels: ListModels | null
    readonly limitMs: number
  }
  /** What others have to say, such as unfinished operations; shown behind git. */
  readonly extraFindings: ReadonlyArray<Finding>
}

/** The JSON of `cass check`. `ok`: no errors; whether warnings count is for the command to decide. */
export interface CheckReport {
  readonly ok: boolean
  readonly findings: ReadonlyArray<Finding>
  readonly next_steps: ReadonlyArray<string>
}

/** Looks at everything at once and reports it. Creates and changes nothing. */
export async function checkSetup(request: CheckRequest): Promise<CheckReport> {
  const { root, cwd, env, platform, extraFindings } = request
  const show = (file: string) => showPath(file, platform)
  const inspected = await inspectConfigFiles(root)
  const [folder, program, git] = await Promise.all([
    checkFolder({ root, os: platform.os, show }),
    checkPath({ searchPath: searchPathOf(env), cwd, program: platform.program, os: platform.os, show }),
    checkGit({ env, cwd }),
  ])
  const findings = [
    ...checkFiles(inspected, show),
    ...(await checkConnection(inspected, request)),
    ...folder,
    ...program,
    git,
    ...extraFindings,
    ...surroundings(request, show),
  ]
  return {
    ok: !hasErrors(findings),
    findings,
    next_steps: nextSteps({ findings, os: platform.os, root: show(root) }),
  }
}

async function checkConnection(
  inspected: InspectedConfig,
  { env, overrides, probes }: CheckRequest,
): Promise<ReadonlyArray<Finding>> {
  const { config: configFile, providers, models, settings } = inspected
  // Which provider is active cannot be told from half of the files.
  if ([configFile, providers, models].some((file) => hasErrors(file.faults))) return []
  const files = requireSound({ ...inspected, settings: { ...settings, faults: [] } })
  const active = checkActive({ files, overrides, env })
  const { config, key } = active
  const inactive = checkInactive({ providers: files.providers, activeId: config?.provider.id ?? null, env })
  const isDefaultOnly = active.findings.some(({ code }) => code === 'no_provider')
  const probe =
    probes.listModels !== null && config !== null && active.isUsable
      ? [await checkModels({ config, key, listModels: probes.listModels, limitMs: probes.limitMs })]
      : []
  return [...active.findings, ...(isDefaultOnly ? [] : inactive), ...probe]
}

function surroundings(
  { env, cwd, workspace, platform }: CheckRequest,
  show: (path: string) => string,
): ReadonlyArray<Finding> {
  const { os, release, arch, node, isInteractive } = platform
  const terminal = env.TERM ?? env.WT_SESSION ?? null
  const kind = terminal === null ? 'unknown kind' : env.TERM === undefined ? 'Windows Terminal' : terminal
  const shell = (os === 'win32' ? (env.ComSpec ?? env.COMSPEC) : env.SHELL) ?? 'not set'
  return [
    okFinding('platform', 'platform', `platform: ${os} ${release} ${arch}, Node ${node}`),
    okFinding('terminal', 'terminal', `terminal: ${kind}${isInteractive ? '' : ', not interactive'}`),
    okFinding('shell', 'shell', `shell: ${shell}`),
    okFinding(
      'workspace',
      'workspace',
      `folder: ${show(cwd)}${workspace === cwd ? '' : `, in the workspace ${show(workspace)}`}`,
    ),
  ]
}

function searchPathOf(env: Environment): string {
  return env.PATH ?? env.Path ?? ''
}

function showPath(file: string, { home, os }: PlatformFacts): string {
  if (home === null || home === '') return file
  if (file === home) return '~'
  const separator = os === 'win32' ? '\\' : '/'
  return file.startsWith(home + separator) ? `~${file.slice(home.length)}` : file
}
