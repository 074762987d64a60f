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
  return roots
    .map(
      (root) => `${formatBranch(root, colours)}\n${formatChildren(root, { branches, colours, prefix: '' })}`,
    )
    .join('')
}

function formatChildren(
  parent: TreeBranch,
  {
    branches,
    colours,
    prefix,
  }: { readonly branches: ReadonlyArray<TreeBranch>; readonly colours: Colours; readonly prefix: string },
): string {
  const children = branches
    .filter((branch) => branch.parent === parent.chat_id)
    .toSorted((a, b) => (a.branch_from?.record_index ?? 0) - (b.branch_from?.record_index ?? 0))
  return children
    .map((child, index) => {
      const isLast = index === children.length - 1
      const line = `${prefix}${isLast ? '└─' : '├─'} ${formatBranch(child, colours)}`
      return `${line}\n${formatChildren(child, { branches, colours, prefix: `${prefix}${isLast ? '   ' : '│  '}` })}`
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
