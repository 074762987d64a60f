import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anchorsOf, type Page, proseOf, readPage, readPages, repository } from './_pages.ts'

const pages = [...readPages(), ...['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].map(readPage)]

interface Link {
  readonly target: string
  readonly anchor: string | null
}

/** The links of a page that lead to a file or heading here, not to the web. */
function relativeLinks(page: Page): Link[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, url]) => url!)
    .filter((url) => !/^[a-z]+:/.test(url))
    .map((url) => {
      const [file = '', anchor = null] = url.split('#')
      return { target: file === '' ? page.path : normalize(join(dirname(page.path), file)), anchor }
    })
}

describe('every relative link leads somewhere', () => {
  test.each(pages)('$path', (page) => {
    const broken = relativeLinks(page).filter(({ target, anchor }) => {
      if (!existsSync(join(repository, target))) return true
      return anchor !== null && !anchorsOf(readPage(target)).has(anchor)
    })
    expect(broken).toEqual([])
  })

  test('the pages have many of them', () => {
    expect(pages.flatMap(relativeLinks).length).toBeGreaterThan(40)
  })
})

test('docs/README.md links to every page', () => {
  const linked = new Set(relativeLinks(readPage('docs/README.md')).map(({ target }) => target))
  const missing = pages.filter(({ path }) => path.startsWith('docs/') && path !== 'docs/README.md')
  expect(missing.filter(({ path }) => !linked.has(path))).toEqual([])
})

test('a page in the bundled docs links only to other pages in it', () => {
  // They are installed without the rest of the repository.
  const bundled = pages.filter(({ path }) => path.startsWith('docs/'))
  const outside = bundled.flatMap((page) =>
    relativeLinks(page)
      .filter(({ target }) => !target.startsWith('docs'))
      .map(({ target }) => `${page.path}: ${target}`),
  )
  expect(outside).toEqual([])
})

test('the glossary has each word once, in order', () => {
  const words = [...readPage('docs/glossary.md').text.matchAll(/^\| \*\*(.+?)\*\*/gm)].map(([, word]) => word)
  expect(words.length).toBeGreaterThan(30)
  expect(words).toEqual([...new Set(words)].sort())
})
