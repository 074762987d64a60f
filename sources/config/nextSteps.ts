import type { Finding } from './finding.ts'

const fileNames = ['config.json', 'providers.json', 'models.json', 'settings.json']
const setupCodes = ['no_provider', 'provider_not_found', 'provider_kind_unsupported']

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
  const faulty = fileNames.filter((name) =>
    errors.some(({ subject }) => subject === name || subject.startsWith(`${name}: `)),
  )
  if (faulty.length > 0) {
    const separator = os === 'win32' ? '\\' : '/'
    return [...faulty.map((name) => `edit ${root}${separator}${name}`), 'cass check']
  }
  const missing = errors.find(({ code }) => code === 'api_key_missing' || code === 'api_key_empty')
  if (missing !== undefined) {
    const { subject } = missing
    return [os === 'win32' ? `$env:${subject} = "..."` : `export ${subject}=...`, 'cass check', 'cass']
  }
  if (errors.some(({ code }) => code === 'no_provider')) return ['cass setup', 'cass chat --demo']
  return errors.some(({ code }) => setupCodes.includes(code)) ? ['cass setup', 'cass check'] : ['cass check']
}
