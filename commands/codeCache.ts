import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Script } from 'node:vm'

/**
 * Loads a CommonJS file together with the code that V8 made of it when it was built (scripts/codeCache.mjs): compiling
 * takes a third of a plumbing command's own time. Where the cache is missing, or was made by another version of Node, the
 * file is compiled as usual. Cached code cannot import by itself, so the build makes its imports calls of `importModule`.
 */
export function requireCached<Exports extends object>(
  file: string,
  { exports, importModule }: { readonly exports: Exports; readonly importModule: (path: string) => unknown },
): Exports {
  const cachedData = tryRead(file.replace(/\.cjs$/, '.cache'))
  const script = new Script(wrap(readFileSync(file, 'utf8')), {
    filename: file,
    ...(cachedData === null ? {} : { cachedData }),
  })
  const module = { exports }
  const run = script.runInThisContext()
  run(module.exports, createRequire(file), module, file, dirname(file), importModule)
  return module.exports
}

/** As Node wraps a module, with one parameter more; the cache fits only the same text (scripts/codeCache.mjs). */
function wrap(text: string): string {
  return `(function (exports, require, module, __filename, __dirname, __import) { ${text}\n});`
}

function tryRead(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    // Whatever is wrong with it, the program works without.
    return null
  }
}
