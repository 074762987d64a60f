import type { Colours } from './colours.ts'
import { stripControls } from './text.ts'

/** What a tree of branches needs of each. */
export interface TreeBranch {
  readonly chat_id: string
  readonly name: string | null
  readonly kind: string
  readonly parent: string | null
  readonly current: boolean
  readonly records: number
  readonly preview: string
  readonly branch_from: { readonly record_index: number } | null
}

/** A family as a tree: a branch hangs below the one it came from, in the order in which they left it. */
export function formatTree(
  { branches }: { readonly branches: ReadonlyArray<TreeBranch> },
  colours: Colours,
): string {
  const known = new Set(branches.map(({ chat_id }) => chat_id))
  const roots = branches.filter(({ parent }) => parent === null || !known.has(parent))
  const shown = new Set<TreeBranch>()
  // Chats that somebody made each other's parents hang below no root: the first of them stands for one.
  return [...roots, ...branches]
    .map((root) => {
      if (shown.has(root)) return ''
      shown.add(root)
      return `${formatBranch(root, colours)}\n${formatChildren(root, { branches, shown, colours, prefix: '' })}`
    })
    .join('')
}

function formatChildren(
  parent: TreeBranch,
  {
    branches,
    shown,
    colours,
    prefix,
  }: {
    readonly branches: ReadonlyArray<TreeBranch>
    readonly shown: Set<TreeBranch>
    readonly colours: Colours
    readonly prefix: string
  },
): string {
  const children = branches
    .filter((branch) => branch.parent === parent.chat_id && !shown.has(branch))
    .toSorted((a, b) => (a.branch_from?.record_index ?? 0) - (b.branch_from?.record_index ?? 0))
  for (const child of children) shown.add(child)
  return children
    .map((child, index) => {
      const isLast = index === children.length - 1
      const line = `${prefix}${isLast ? '└─' : '├─'} ${formatBranch(child, colours)}`
      return `${line}\n${formatChildren(child, { branches, shown, colours, prefix: `${prefix}${isLast ? '   ' : '│  '}` })}`
    })
    .join('')
}

function formatBranch(branch: TreeBranch, colours: Colours): string {
  const from = branch.branch_from === null ? '' : `at ${branch.branch_from.record_index}, `
  const name = branch.name === null ? '' : ` ${colours.green(stripControls(branch.name))}`
  const facts = colours.dim(`(${branch.kind}, ${from}${branch.records} records)`)
  const mark = branch.current ? colours.bold('*') : ''
  return `${mark}${colours.yellow(branch.chat_id)}${name} ${facts} ${stripControls(branch.preview)}`.trimEnd()
}
