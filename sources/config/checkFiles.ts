import type { InspectedConfig, InspectedFile } from './files.ts'
import { type Finding, hasErrors, okFinding } from './finding.ts'
import { validateConfig } from './validate.ts'

/** What `cass check` says about the four files: one line or all faults for each, then what is wrong between them. */
export function checkFiles(
  inspected: InspectedConfig,
  show: (path: string) => string,
): ReadonlyArray<Finding> {
  const { config, providers, models, settings } = inspected
  return [
    ...fileFindings(config, show, 'valid'),
    ...fileFindings(providers, show, `valid (${count(providers.value.length, 'provider')})`),
    ...fileFindings(models, show, `valid (${count(models.value.length, 'model')})`),
    ...fileFindings(settings, show, 'valid'),
    ...validateConfig(inspected),
  ]
}

function fileFindings(
  file: InspectedFile<unknown>,
  show: (path: string) => string,
  valid: string,
): ReadonlyArray<Finding> {
  if (file.state === 'absent') {
    return [okFinding('file_absent', file.name, `${show(file.path)}: not present (using defaults)`)]
  }
  if (hasErrors(file.faults)) return file.faults
  return [okFinding('file_valid', file.name, `${show(file.path)}: ${valid}`), ...file.faults]
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}
