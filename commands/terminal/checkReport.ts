import type { Colours } from './colours.ts'
import { stripControls } from './text.ts'

/** What `cass check` found. */
export interface CheckReport {
  readonly ok: boolean
  readonly findings: ReadonlyArray<{
    readonly severity: 'ok' | 'warning' | 'error'
    readonly subject: string
    readonly message: string
    readonly hint: string | null
  }>
  readonly next_steps: ReadonlyArray<string>
}

/** The report for people: what is fine, then warnings, errors, and what to do about them. */
export function formatCheckReport({ ok, findings, next_steps }: CheckReport, colours: Colours): string {
  const section = (severity: 'ok' | 'warning' | 'error', mark: string, title: string | null) => {
    const lines = findings
      .filter((finding) => finding.severity === severity)
      .flatMap(({ subject, message, hint }) => [
        `${mark} ${stripControls(message.includes(subject) ? message : `${subject}: ${message}`)}`,
        ...(hint === null ? [] : [stripControls(`    ${hint}`)]),
      ])
    return lines.length === 0 ? [] : [...(title === null ? [] : ['', title]), ...lines]
  }
  const steps = next_steps.map((step) => stripControls(`  ${step}`))
  return [
    colours.bold('Cass config check'),
    ...section('ok', colours.green('✓'), null),
    ...section('warning', colours.yellow('!'), 'Warnings:'),
    ...section('error', colours.red('✗'), 'Errors:'),
    ...(steps.length === 0 ? [] : ['', steps.length === 1 ? 'Next step:' : 'Next steps:', ...steps]),
    '',
    ok ? 'All checks passed.' : 'Config check failed.',
    '',
  ].join('\n')
}
