import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { askApproval } from '../../commands/terminal/approval.ts'
import { collect } from './_run.ts'

const enter = '\r'
const down = '\u001b[B'

/** Asks, and answers each question with the next keys. Gives what was on the screen. */
async function ask(
  request: { readonly name: string; readonly arguments: { readonly command: string } },
  answers: ReadonlyArray<ReadonlyArray<string>>,
  isTyping = false,
  size: { readonly rows?: number; readonly columns?: number } = {},
) {
  const waiting = [...answers]
  const screen = collect()
  Object.assign(screen.stream, size)
  const keyboard = {
    borrow() {
      const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
      const pressed = [...(waiting.shift() ?? [])]
      const press = () => {
        const key = pressed.shift()
        if (key === undefined) return
        keys.write(key)
        setImmediate(press)
      }
      // It listens from the next turn of the event loop on.
      setTimeout(press, 20)
      return { keys, isTyping, release: () => void keys.destroy() }
    },
  }
  const answer = await askApproval(
    { ...request, reason: `shell asks: ${request.arguments.command}` },
    { keyboard, stderr: screen.stream, columns: 80 },
  )
  return { answer, text: stripVTControlCharacters(screen.text()) }
}

const long = Array.from({ length: 30 }, (_, index) => `echo line${index}.`).join('\n')

it('shows a short command once, in the question, and the answer as it was given', async () => {
  const { answer, text } = await ask({ name: 'shell', arguments: { command: 'npm test\n' } }, [[enter]])
  expect(answer).toBe(true)
  expect(text).toContain('shell npm test (shell asks)')
  expect(text.split('\n').at(-2) ?? '').toMatch(/allow once$/)
})

it('denies on the second choice', async () => {
  expect((await ask({ name: 'shell', arguments: { command: 'x' } }, [[down, enter]])).answer).toBe(false)
})

it('takes Enter for a no while the user is in the middle of a line', async () => {
  expect((await ask({ name: 'shell', arguments: { command: 'x' } }, [[enter]], true)).answer).toBe(false)
})

it.each([
  [['y'], true],
  [['Y'], true],
  [['n'], false],
  [[...'d', enter], false],
  [['now also the docs', enter], false],
  [['x', 'n'], false],
  [['x', 'y'], true],
])('answers %j with %j', async (keys, answer) => {
  expect((await ask({ name: 'shell', arguments: { command: 'x' } }, [keys])).answer).toBe(answer)
})

it('can be answered on a terminal that says it has no rows', async () => {
  const request = { name: 'shell', arguments: { command: 'x' } }
  const { answer, text } = await ask(request, [[down, enter]], false, { rows: 0, columns: 0 })
  expect(answer).toBe(false)
  expect(text).not.toContain('No matching choices')
})

it('shows the first and the last lines of a long command, each once', async () => {
  const { answer, text } = await ask({ name: 'shell', arguments: { command: long } }, [[enter]])
  expect(answer).toBe(true)
  expect(text.match(/echo line0\./g)).toHaveLength(1)
  expect(text).toContain('    echo line0.\n')
  expect(text).toContain('    … 19 more lines\n')
  expect(text).toContain('    echo line29.\n')
  expect(text).not.toContain('echo line15.')
})

it('shows all of it when that is wanted, and asks again', async () => {
  const { answer, text } = await ask({ name: 'shell', arguments: { command: long } }, [
    [down, down, enter],
    [down, enter],
  ])
  expect(answer).toBe(false)
  expect(text).toContain('    echo line15.\n')
})

it('counts the rows of one long line', async () => {
  const command = `echo ${'x'.repeat(3000)}`
  const { text } = await ask({ name: 'shell', arguments: { command } }, [[enter]])
  expect(text).toContain('more lines')
})

it.each([
  ['turned text', 'rm \u202e/ fr- #', 'rm \\u202e/ fr- #'],
  ['characters without width', 'a\u200bb\u2066c\u{e0061}', 'a\\u200bb\\u2066c\\u{e0061}'],
  ['escape sequences', 'echo \u001b[2Khello\r', 'echo \\u001b[2Khello'],
  ['letters that show nothing', 'x\u3164y', 'x\\u3164y'],
])('writes out %s', async (_, command, shown) => {
  const { text } = await ask({ name: 'shell', arguments: { command } }, [[enter]])
  expect(text).toContain(`shell ${shown}`)
})
