// Set by the build (scripts/build.mjs) from package.json; absent when the sources run unbuilt, in tests.
declare const CASS_VERSION: string | undefined

/** The version of this program. */
export const version: string = typeof CASS_VERSION === 'string' ? CASS_VERSION : '0.0.0-unbuilt'
