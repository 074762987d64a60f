import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isDestructiveCommand } from '../../../sources/workspace/destructive.ts'
import { isReadOnlyCommand } from '../../../sources/workspace/shellClass.ts'

const page = readFileSync(new URL('../../../docs/access-modes.md', import.meta.url), 'utf8')

/** The commands of the code block with this label. */
function commandsOf(label: string): string[] {
  const block = page.split(`\`\`\`sh ${label}\n`)[1]?.split('```')[0] ?? ''
  return block.split('\n').filter((line) => line !== '')
}

it('the examples of docs/access-modes.md are true', () => {
  const judged = (label: string, judge: (command: string) => boolean) => {
    const commands = commandsOf(label)
    expect(commands.length).toBeGreaterThan(3)
    return commands.map((command) => [command, judge(command)])
  }
  const each = (label: string, value: boolean) => commandsOf(label).map((command) => [command, value])
  const reads = (command: string) => isReadOnlyCommand(command, 'sh')
  const destroys = (command: string) => isDestructiveCommand(command, 'sh')
  expect(judged('reads', reads)).toEqual(each('reads', true))
  expect(judged('not-proven', reads)).toEqual(each('not-proven', false))
  expect(judged('destructive', destroys)).toEqual(each('destructive', true))
  expect(judged('harmless', destroys)).toEqual(each('harmless', false))
})
