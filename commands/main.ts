import { manifest } from './manifest.ts'
import { makeProgram } from './program.ts'

/** The whole program: runs one command line and gives its exit code. Never throws, never ends the process. */
export const run = makeProgram(manifest)
