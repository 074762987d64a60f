import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('../../', import.meta.url))

/** A page of the documentation; `path` is relative to the repository. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** A fenced block. `info` is what stands behind the language, such as a file's name. */
export interface Block {
  readonly language: string
  readonly info: string
  readonly text: string
  /** Of the opening fence, from 1. */
  readonly line: number
}

/** The README and everything in docs/. */
export function readPages(): Page[] {
  const names = readdirSync(join(repository, 'docs')).filter((name) => name.endsWith('.md'))
  return ['README.md', ...names.sort().map((name) => `docs/${name}`)].map(readPage)
}

export function readPage(path: string): Page {
  return { path, text: readFileSync(join(repository, path), 'utf8') }
}

/** All fenced blocks of a page, in order. */
export function blocksOf({ path, text }: Page): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; language: string; info: string; line: number; lines: string[] } | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (open === null) {
      const [, fence, language, info] = /^(`{3,})(\S*) ?(.*)$/.exec(line) ?? []
      if (fence !== undefined) open = { fence, language: language!, info: info!, line: index + 1, lines: [] }
    } else if (line === open.fence) {
      const { language, info, line, lines } = open
      blocks.push({ language, info, line, text: lines.map((each) => `${each}\n`).join('') })
      open = null
    } else {
      open.lines.push(line)
    }
  }
  if (open !== null) throw new Error(`${path}:${open.line}: this block is never closed`)
  return blocks
}

/** A page without its fenced blocks and without code in its lines: only prose has links and headings. */
export function proseOf({ text }: Page): string {
  return text
    .replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '')
    .replace(/`[^`\n]+`/g, (code) => code.replaceAll(']', ''))
}

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(page: Page): Set<string> {
  const anchors = new Set<string>()
  for (const [, title] of proseOf(page).matchAll(/^#{1,6} +(.+)$/gm)) {
    const anchor = title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    let unique = anchor
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`
    anchors.add(unique)
  }
  return anchors
}
