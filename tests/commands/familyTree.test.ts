import { expect, it } from 'vitest'
import { formatTree, type TreeBranch } from '../../commands/terminal/familyTree.ts'

const plain = (text: string) => text
const colours = { green: plain, dim: plain, bold: plain, yellow: plain } as Parameters<typeof formatTree>[1]

function branch(chat_id: string, parent: string | null, record_index: number | null = null): TreeBranch {
  return {
    ...{ chat_id, parent, name: null, kind: 'fork', current: false, records: 2, preview: '' },
    branch_from: record_index === null ? null : { record_index },
  }
}

const shape = (branches: TreeBranch[]) =>
  formatTree({ branches }, colours)
    .split('\n')
    .map((line) => line.replace(/ \(.*$/, ''))

it('a branch hangs below its parent, in the order in which branches left it', () => {
  const branches = [
    branch('a', null),
    branch('b', 'a', 9),
    branch('c', 'a', 3),
    branch('d', 'c', 4),
    branch('e', 'gone'),
  ]
  expect(shape(branches)).toEqual(['a', '├─ c', '│  └─ d', '└─ b', 'e', ''])
})

it("chats that are made each other's parents are shown once each", () => {
  expect(shape([branch('a', 'c'), branch('b', 'a'), branch('c', 'b'), branch('d', 'd')])).toEqual([
    ...['a', '└─ b', '   └─ c', 'd', ''],
  ])
})
