import { release } from 'node:os'
import path from 'node:path'
import { listModels } from '../agent/provider/listModels.ts'
import { readProxies } from '../agent/provider/proxies.ts'
import { type CheckReport, checkSetup } from '../config/check.ts'
import type { Finding } from '../config/finding.ts'
import type { ConfigOverrides } from '../config/resolve.ts'
import { Journal } from '../edits/journal.ts'
import { livenessOf } from './deadTurns.ts'
import { type Place, workspaceOf } from './place.ts'

/** How long the provider may take to list its models, in milliseconds. */
const probeLimitMs = 15_000

/**
 * Looks at the configuration and everything around it, and reports every fault at once. Changes nothing. `strict`: warnings
 * make it not ok; `probe`: the provider is asked for its models too.
 */
export async function checkInstallation(
  place: Place,
  {
    overrides,
    strict,
    probe,
    isInteractive,
  }: {
    readonly overrides: ConfigOverrides
    readonly strict: boolean
    readonly probe: boolean
    readonly isInteractive: boolean
  },
): Promise<CheckReport> {
  const { root, cwd, env, home } = place
  const report = await checkSetup({
    ...{ root, cwd, workspace: workspaceOf(place).root, env, overrides },
    platform: {
      ...{ os: process.platform, release: release(), arch: process.arch, node: process.versions.node },
      ...{ isInteractive, home, program: path.join(place.programFolder, 'cass.cjs') },
    },
    probes: { listModels: probe ? makeListModels(place) : null, limitMs: probeLimitMs },
    extraFindings: await journalFindings(place),
  })
  return strict ? { ...report, ok: report.findings.every(({ severity }) => severity === 'ok') } : report
}

function makeListModels(place: Place): Parameters<typeof checkSetup>[0]['probes']['listModels'] {
  return ({ config, key, signal }) =>
    listModels({
      ...{ baseUrl: config.provider.base_url, key: key?.reveal() ?? null, timeoutMs: probeLimitMs },
      ...{ proxies: readProxies(place.env), userAgent: 'cass', signal },
    })
}

/** Lines of processes that died before their result was saved: the next edit of the path or turn judges them. */
async function journalFindings(place: Place): Promise<Finding[]> {
  const journal = new Journal({ home: place.root, workspace: workspaceOf(place) })
  await journal.refresh()
  const liveness = livenessOf(place)
  const unsettled = new Set<string>()
  for (const { line } of journal.lines) {
    const { type, conversation, message_id: message, writer } = line
    if (type !== 'edit' || conversation === undefined || message === undefined || journal.isVoided(line.id))
      continue
    const isOver =
      (await liveness.isWriterAlive(writer)) || (await liveness.isMessageInLog(conversation, message))
    if (!isOver) unsettled.add(line.path)
  }
  const findings = [...unsettled].map(
    (file): Finding => ({
      ...{ severity: 'warning', code: 'journal_unsettled', subject: file },
      message: `an edit of '${file}' was interrupted, and whether it was published is not judged yet`,
      hint: 'go on with its chat; the next turn judges it',
    }),
  )
  const holes = journal.holes.map(
    ({ start, end }): Finding => ({
      ...{ severity: 'warning', code: 'journal_hole', subject: 'journal' },
      message: `${end - start} bytes of this workspace's journal at ${start} are no line`,
      hint: 'the changes they told of cannot be taken back; everything else can',
    }),
  )
  return [...findings, ...holes]
}
