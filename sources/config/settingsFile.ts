import * as t from 'typanion'
import { checkValue, fieldOf, isPlainObject, type Reading } from './faults.ts'

const isCount = t.cascade(t.isNumber(), t.isInteger(), t.isAtLeast(0))
const isPositiveCount = t.cascade(t.isNumber(), t.isInteger(), t.isAtLeast(1))
const isSeconds = t.cascade(t.isNumber(), t.isAtLeast(0.001), t.isAtMost(86_400))

/** Typanion's own choice of two would report each one that does not fit. */
const isPager = t.makeValidator<unknown, string | false>({
  test: (value, state): value is string | false => {
    if (typeof value === 'string' || value === false) return true
    state?.errors?.push(`${state.p ?? '.'}: Expected a string or false`)
    return false
  },
})

/** settings.json with all defaults filled in: what only this program has. */
export interface Settings {
  readonly doubleEscape: 'menu' | 'none'
  readonly snapshots: {
    readonly maxFileBytes: number
    /** 0: no limit. */
    readonly retainTurns: number
    /** 0: no limit. */
    readonly quotaBytes: number
    readonly required: boolean
  }
  readonly shellScan: { readonly maxFiles: number; readonly maxMilliseconds: number }
  readonly shellEnvironment: { readonly keepProviderKeys: boolean }
  readonly theme: 'auto' | 'dark' | 'light'
  /** False: never page; null: not set, the environment decides. */
  readonly pager: string | false | null
  readonly requestTimeouts: { readonly connectSeconds: number; readonly idleSeconds: number }
  readonly retries: number
  /** `owner/name`, where releases come from; null: not set. */
  readonly updates: { readonly repository: string | null }
}

export const defaultSettings: Settings = {
  doubleEscape: 'menu',
  snapshots: { maxFileBytes: 33_554_432, retainTurns: 100, quotaBytes: 1_073_741_824, required: true },
  shellScan: { maxFiles: 20_000, maxMilliseconds: 300 },
  shellEnvironment: { keepProviderKeys: false },
  theme: 'auto',
  pager: null,
  requestTimeouts: { connectSeconds: 30, idleSeconds: 300 },
  retries: 4,
  updates: { repository: null },
}

const groups = {
  snapshots: t.isObject({
    maxFileBytes: t.isOptional(isPositiveCount),
    retainTurns: t.isOptional(isCount),
    quotaBytes: t.isOptional(isCount),
    required: t.isOptional(t.isBoolean()),
  }),
  shellScan: t.isObject({ maxFiles: t.isOptional(isCount), maxMilliseconds: t.isOptional(isCount) }),
  shellEnvironment: t.isObject({ keepProviderKeys: t.isOptional(t.isBoolean()) }),
  requestTimeouts: t.isObject({
    connectSeconds: t.isOptional(isSeconds),
    idleSeconds: t.isOptional(isSeconds),
  }),
  updates: t.isObject({
    repository: t.isOptional(t.cascade(t.isString(), t.matchesRegExp(/^[\w.-]+\/[\w.-]+$/))),
  }),
}

const isSettingsFile = t.isObject({
  doubleEscape: t.isOptional(t.isEnum(['menu', 'none'] as const)),
  snapshots: t.isOptional(t.isUnknown()),
  shellScan: t.isOptional(t.isUnknown()),
  shellEnvironment: t.isOptional(t.isUnknown()),
  theme: t.isOptional(t.isEnum(['auto', 'dark', 'light'] as const)),
  pager: t.isOptional(isPager),
  requestTimeouts: t.isOptional(t.isUnknown()),
  retries: t.isOptional(t.cascade(t.isNumber(), t.isInteger(), t.isAtLeast(0), t.isAtMost(100))),
  updates: t.isOptional(t.isUnknown()),
})

/** Reads the parsed file. Unknown fields are warnings; a faulty one is an error and keeps its default in `value`. */
export function parseSettingsFile(raw: unknown): Reading<Settings> {
  const options = { file: 'settings.json', unknownField: 'warning' } as const
  const faults = [
    ...checkValue(raw, isSettingsFile, options),
    ...Object.entries(groups).flatMap(([name, check]) => {
      const group = fieldOf(raw, name)
      return group === undefined ? [] : checkValue(group, check, { ...options, place: name })
    }),
  ]
  const top = soundFields(raw, isSettingsFile.properties)
  const value: Settings = {
    ...defaultSettings,
    ...top,
    ...Object.fromEntries(
      Object.entries(groups).map(([name, group]) => [
        name,
        { ...fieldsOf(fieldOf(defaultSettings, name)), ...soundFields(fieldOf(raw, name), group.properties) },
      ]),
    ),
  }
  return { value, faults }
}

/** The fields whose own validator accepts them; it was seen above that they are what `Settings` says. */
function soundFields(
  raw: unknown,
  checks: Readonly<Record<string, (value: unknown) => boolean>>,
): Readonly<Record<string, unknown>> {
  const sound = Object.entries(checks).filter(
    ([name, check]) => fieldOf(raw, name) !== undefined && check(fieldOf(raw, name)),
  )
  return Object.fromEntries(sound.map(([name]) => [name, fieldOf(raw, name)]))
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isPlainObject(value) ? value : {}
}
