// The licences of the packages whose code is inside the bundle: most ask for their text to go with it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One text with the name, version and licence of each package that the metafile has bytes of. */
export function formatNotices({ repository, metafile }) {
  const sections = bundledPackages(metafile).map((name) => {
    const folder = join(repository, 'node_modules', name)
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return `${name} ${version} (${license})\n\n${readLicence(folder)}`
  })
  return `This program contains code of the packages below.\n\n${sections.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

function bundledPackages(metafile) {
  const names = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap((path) => {
      const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)
      return found ? [found[1]] : []
    }),
  )
  return [...new Set(names)].sort()
}

function readLicence(folder) {
  if (!existsSync(folder)) return ''
  const name = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  return name === undefined
    ? '(the package ships no licence file)'
    : readFileSync(join(folder, name), 'utf8').trim()
}
