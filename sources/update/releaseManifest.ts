import * as t from 'typanion'
import { CassError } from '../errors.ts'

/** Where a release archive has its manifest. */
export const manifestName = 'release.json'

/** Raised when a program of this version could not install an archive made by a later one. */
const manifestFormat = 1

/** Another program uses the same names for its archives: what is ours says so. */
const product = 'cassady'

/** What a release archive holds; fields that are not known are left alone. */
export type ReleaseManifest = t.InferType<typeof isManifest>

const isManifest = t.isPartial({
  format: t.isLiteral(manifestFormat),
  product: t.isLiteral(product),
  /** Without a `v`. */
  version: t.cascade(t.isString(), t.matchesRegExp(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/)),
  /** The platform, such as `x86_64-unknown-linux-gnu`. */
  target: t.cascade(t.isString(), t.matchesRegExp(/^[a-z0-9_]+(-[a-z0-9_]+)+$/)),
})

interface Release {
  readonly version: string
  readonly target: string
}

/** The manifest's text, the same bytes for the same release. */
export function stringifyReleaseManifest({ version, target }: Release): string {
  return `${JSON.stringify({ format: manifestFormat, product, version, target }, null, 2)}\n`
}

/**
 * Reads the manifest of an archive (null: it has none) and throws `archive_foreign` unless it names this product and
 * exactly this release.
 */
export function parseReleaseManifest(text: string | null, { version, target }: Release): ReleaseManifest {
  if (text === null) throw makeForeignError(`has no '${manifestName}'`)
  const value = tryParse(text)
  const errors: string[] = []
  if (!isManifest(value, { errors }))
    throw makeForeignError(`has a '${manifestName}' of another kind`, { errors })
  if (value.version !== version) throw makeForeignError(`holds ${value.version}, not ${version}`)
  if (value.target !== target) throw makeForeignError(`is for ${value.target}, not ${target}`)
  return value
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // No JSON is one more thing that is no manifest.
    return null
  }
}

function makeForeignError(fault: string, data: Readonly<Record<string, unknown>> = {}): CassError {
  return new CassError('archive_foreign', `refused the archive: it ${fault}`, {
    hint: "check that 'updates.repository' names the home of this program",
    data,
  })
}
