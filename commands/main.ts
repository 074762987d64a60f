import { setMaxListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { manifest } from './manifest.ts'
import { makeProgram } from './program.ts'

/** The whole program: runs one command line and gives its exit code. Never throws, never ends the process. */
export const run = makeProgram(manifest)

// Node parses HTTP with WebAssembly. Making that faster than any model can answer would cost 30 MB and a busy core.
setFlagsFromString('--liftoff-only')
// Every tool call listens for a cancel, and one answer may hold thousands: that is no leak to warn of.
setMaxListeners(0)
