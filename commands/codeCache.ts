import { readFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { constants, Script } from 'node:vm'

/**
 * Loads a CommonJS file together with the code that V8 made of it when it was built (scripts/codeCache.mjs): compiling
 * takes a third of a plumbing command's own time. Where the cache is missing, or was made by another version of Node, the
 * file is compiled as usual.
 */
export function requireCached<Exports extends object>(file: string, exports: Exports): Exports {
  const cachedData = tryRead(file.replace(/\.cjs$/, '.cache'))
  const script = new Script(Module.wrap(readFileSync(file, 'utf8')), {
    filename: file,
    ...(cachedData === null ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const module = { exports }
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file))
  return module.exports
}

function tryRead(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    // Whatever is wrong with it, the program works without.
    return null
  }
}
