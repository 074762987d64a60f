export type Severity = 'ok' | 'warning' | 'error'

/** One line of `cass check`. `code` is stable; docs/configuration.md lists every code. Never holds a secret. */
export interface Finding {
  readonly severity: Severity
  readonly code: string
  /** What it is about: a file, a provider id, a folder. */
  readonly subject: string
  readonly message: string
  /** The next step, starting with a verb; null when there is nothing to do. */
  readonly hint: string | null
}

export function okFinding(code: string, subject: string, message: string): Finding {
  return { severity: 'ok', code, subject, message, hint: null }
}

export function hasErrors(findings: ReadonlyArray<Finding>): boolean {
  return findings.some((finding) => finding.severity === 'error')
}
