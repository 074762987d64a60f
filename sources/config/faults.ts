import type { Finding, Severity } from './finding.ts'
import { nearestField } from './nearestField.ts'

/** A value of one of the files, as far as it could be used, and what is wrong with the rest. */
export interface Reading<T> {
  readonly value: T
  readonly faults: ReadonlyArray<Finding>
}

/** Any typanion validator, as far as it is used here. `properties`: the fields of an object. */
export type Check = ((value: unknown, state?: { errors?: string[]; p?: string }) => boolean) & {
  readonly properties?: Readonly<Record<string, unknown>>
}

export interface CheckOptions {
  readonly file: string
  /** Where the value stands in the file, `providers[1]`; omitted at the top. */
  readonly place?: string
  /** What an unknown field is. */
  readonly unknownField: Severity
}

/**
 * Runs a validator and turns its errors into findings that name file, field and fix. The values themselves are left
 * out: one of them can be a key.
 */
export function checkValue(value: unknown, check: Check, options: CheckOptions): ReadonlyArray<Finding> {
  if (!isPlainObject(value))
    return [makeFault(options, options.place ?? '', 'wrong_type', `must be an object${not(value)}`)]
  const errors: string[] = []
  const { place } = options
  check(value, place === undefined ? { errors } : { errors, p: `.${place}` })
  const known = Object.keys(check.properties ?? {})
  const found = errors.map((error) => faultOf(error, options, known))
  // A mistyped field explains the one that is missing, so it comes first.
  return [...found.filter(({ isSlip }) => isSlip), ...found.filter(({ isSlip }) => !isSlip)].map(
    ({ fault }) => fault,
  )
}

/** Whether a value is what JSON calls an object. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A field of an object from outside; undefined when it is missing. */
export function fieldOf(value: unknown, name: string): unknown {
  return isPlainObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** A fault at one field. `place` is empty when the whole file is meant. */
export function makeFault(options: CheckOptions, place: string, code: string, problem: string): Finding {
  const subject = place === '' ? options.file : `${options.file}: ${place}`
  return {
    severity: 'error',
    code,
    subject,
    message: `${subject}: ${problem}`,
    hint: `correct it in ${options.file}`,
  }
}

const errorShape = /^((?:\.[A-Za-z_]\w*|\.?\[(?:\d+|"(?:[^"\\]|\\.)*")\])+|\.): ([\s\S]*)$/

interface FoundFault {
  readonly fault: Finding
  /** Whether it is an unknown field that was meant to be a known one. */
  readonly isSlip: boolean
}

function faultOf(error: string, options: CheckOptions, known: ReadonlyArray<string>): FoundFault {
  const [, path = '', text = ''] = errorShape.exec(error) ?? []
  const place = path.replace(/^\.+/, '')
  if (!/^(?:Extraneous property|Unsafe property name)/.test(text)) {
    return { fault: valueFault(place, text, options), isSlip: false }
  }
  const parent = options.place === undefined ? '' : `${options.place}.`
  const meant = place.startsWith(parent) ? nearestField(place.slice(parent.length), known) : null
  const problem = `unknown field${meant === null ? '' : `; did you mean '${meant}'?`}`
  const hint = meant === null ? 'remove it, or correct its name' : `write '${meant}', or remove it`
  const fault = makeFault(options, place, 'unknown_field', problem)
  return { fault: { ...fault, severity: options.unknownField, hint }, isSlip: meant !== null }
}

function valueFault(place: string, text: string, options: CheckOptions): Finding {
  if (text.endsWith('(got undefined)')) {
    return { ...makeFault(options, place, 'missing_field', 'is required'), hint: 'add the field' }
  }
  const wanted = text.replace(/ \(got [\s\S]*\)$/, '')
  const problem = problems.find(({ pattern }) => pattern.test(wanted))
  if (problem !== undefined)
    return makeFault(options, place, problem.code, wanted.replace(problem.pattern, problem.text))
  return makeFault(options, place, 'wrong_type', `${wanted.replace(/^Expected/, 'must be')}${got(text)}`)
}

/** Typanion's wording on the left, ours on the right. */
const problems = [
  { pattern: /^Expected one of/, code: 'wrong_value', text: 'must be one of' },
  { pattern: /^Expected to be a safe integer$/, code: 'wrong_value', text: 'is too large' },
  { pattern: /^Expected to be an integer$/, code: 'wrong_value', text: 'must be a whole number' },
  { pattern: /^Expected to be /, code: 'wrong_value', text: 'must be ' },
  {
    pattern: /^Expected to match the pattern .*$/,
    code: 'wrong_value',
    text: 'must have the form "owner/name"',
  },
]

/** `, not a number`, from the printed value: its kind may be told, the value may not. */
function got(text: string): string {
  const printed = / \(got ([\s\S]*)\)$/.exec(text)?.[1] ?? ''
  if (/^(?:null|an array|an empty string)$/.test(printed)) return `, not ${printed}`
  if (printed.startsWith('"')) return ', not a string'
  if (/^(?:true|false)$/.test(printed)) return ', not a boolean'
  if (printed.startsWith('{')) return ', not an object'
  return /^[-\d]/.test(printed) ? ', not a number' : ''
}

function not(value: unknown): string {
  if (value === undefined) return ''
  if (value === null) return ', not null'
  return Array.isArray(value) ? ', not an array' : `, not a ${typeof value}`
}
