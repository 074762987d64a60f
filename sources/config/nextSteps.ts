import type { Finding } from './finding.ts'
import { isVariableName, unbracedName } from './key.ts'

const fileNames = ['config.json', 'providers.json', 'models.json', 'settings.json']
const providerCodes = ['provider_not_found', 'provider_kind_unsupported']

/** What to type or do next, in order; nothing when there is no error. */
export function nextSteps({
  findings,
  os,
  root,
}: {
  readonly findings: ReadonlyArray<Finding>
  readonly os: string
  /** The home folder as it is shown. */
  readonly root: string
}): ReadonlyArray<string> {
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return []
  const separator = os === 'win32' ? '\\' : '/'
  const edit = (name: string) => `edit ${root}${separator}${name}`
  const faulty = fileNames.filter((name) =>
    errors.some(({ subject }) => subject === name || subject.startsWith(`${name}: `)),
  )
  if (faulty.length > 0) return [...faulty.map(edit), 'cass check']
  const missing = errors.find(({ code }) => code === 'api_key_missing' || code === 'api_key_empty')
  if (missing !== undefined) {
    const { subject } = missing
    const braced = unbracedName(subject)
    if (braced !== null) return [`${edit('providers.json')}: write $${braced}, without braces`, 'cass check']
    if (!isVariableName(subject))
      return [`${edit('providers.json')}: write $ and a variable's name`, 'cass check']
    return [os === 'win32' ? `$env:${subject} = "..."` : `export ${subject}=...`, 'cass check', 'cass']
  }
  const has = (...codes: ReadonlyArray<string>) => errors.some(({ code }) => codes.includes(code))
  if (has('no_provider')) {
    return [`write ${root}${separator}providers.json, as README.md shows`, 'cass chat --demo']
  }
  if (has(...providerCodes)) return [edit('providers.json'), 'cass check']
  // The same check would only say the same again.
  if (has('probe_failed')) {
    return [
      `start the server, or correct its base_url and key in ${root}${separator}providers.json`,
      'cass check --probe',
    ]
  }
  return ['cass check']
}
