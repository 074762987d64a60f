import { listing, lookAtRequest, readFiles, type Sight } from './demoSight.ts'
import type { ModelRequest } from './model.ts'

export interface DemoAnswer {
  readonly text: string
  readonly calls: ReadonlyArray<{ readonly name: string; readonly input: Readonly<Record<string, unknown>> }>
  readonly turn: number
  readonly step: number
}

type Move = Pick<DemoAnswer, 'text' | 'calls'>

const SIGNATURE =
  '(I am the demo model inside cass: I follow a script and know only this sample project. Run `cass setup` to use a real model.)'

/** The bug of the sample project. */
const BUGGY = 'return pieces > BULK_PIECES ?'
const FIXED = 'return pieces >= BULK_PIECES ?'
const BUG_FILE = 'src/basket.js'
const TEST_COMMAND = 'node --test'

/** More steps than any script needs: a tool that answers strangely cannot keep the demo going. */
const MAX_STEPS = 8

/** The next answer to a request; the same for the same request. */
export function planDemoAnswer(request: ModelRequest): DemoAnswer {
  const sight = lookAtRequest(request)
  const move = sight.step >= MAX_STEPS ? finish('I stop here.') : nextMove(sight)
  return { ...move, turn: sight.turn, step: sight.step }
}

function nextMove(sight: Sight): Move {
  const { asked, tools } = sight
  if (!tools.has('ls') || !tools.has('read')) return finish('I was given no tools to look around with.')
  if (/\b(fix|repair|bug|broken|fail\w*)\b/i.test(asked)) return fixMove(sight)
  if (/\btests?\b/i.test(asked)) return testMove(sight)
  if (/\b(notes?|changelog)\b/i.test(asked)) return noteMove(sight)
  return lookMove(sight)
}

function fixMove(sight: Sight): Move {
  const search = searchMove(sight)
  if (search !== null) return search
  const source = readFiles(sight).find(({ path }) => path.endsWith(BUG_FILE))?.text ?? ''
  if (source.includes(FIXED)) return testMove(sight, `\`${BUG_FILE}\` already compares with \`>=\`.`)
  if (!source.includes(BUGGY)) return finish('I found nothing that I know how to fix here.')
  const cause = `\`${BUG_FILE}\` gives the discount only from the eleventh piece on, but the README and the test say ten or more: \`>\` should be \`>=\`.`
  if (!sight.tools.has('edit')) {
    return finish(`${cause} I may not change files in this access mode; allow it with \`--workspace-edit\`.`)
  }
  const edit = sight.calls.find(({ name }) => name === 'edit')
  if (edit === undefined) {
    const edits = [{ old_text: BUGGY, new_text: FIXED }]
    return {
      text: `${cause} I change that line.`,
      calls: [{ name: 'edit', input: { path: BUG_FILE, edits } }],
    }
  }
  if (!edit.result.startsWith('applied'))
    return finish(`${cause} My edit did not go through: ${firstLine(edit.result)}`)
  return testMove(sight, `I changed \`>\` to \`>=\` in \`${BUG_FILE}\`, so ten pieces now get the discount.`)
}

/** Looks at the folder, its folders, and the files in them; null when all that was seen. */
function searchMove(sight: Sight): Move | null {
  const root = listing(sight, '.')
  if (root === null) return call('I look at what is here.', 'ls', { path: '.' })
  const folders = ['src', 'test'].filter((folder) => root.includes(`${folder}/`))
  const unseen = folders.filter((folder) => listing(sight, folder) === null)
  if (unseen.length > 0) {
    const calls = unseen.map((path) => ({ name: 'ls', input: { path } }))
    return { text: 'There is code and there are tests; I look into both.', calls }
  }
  if (sight.calls.some(({ name }) => name === 'read')) return null
  const files = folders.flatMap((folder) =>
    (listing(sight, folder) ?? [])
      .filter((name) => name.endsWith('.js'))
      .map((name) => ({ path: `${folder}/${name}` })),
  )
  if (files.length === 0) return null
  return call('I read the code and its tests.', 'read', { files: [...files, { path: 'README.md' }] })
}

function testMove(sight: Sight, done = ''): Move {
  const say = (text: string) => finish([done, text].filter((part) => part !== '').join(' '))
  if (!sight.tools.has('shell'))
    return say(`Run \`${TEST_COMMAND}\` to see the tests; I have no shell in this access mode.`)
  const run = sight.calls.find(({ name }) => name === 'shell')
  if (run === undefined) {
    return call([done, 'I run the tests.'].join(' ').trim(), 'shell', { command: TEST_COMMAND, timeout: 60 })
  }
  if (/^exit code: 0$/m.test(run.result)) return say('All tests pass.')
  const failed = /^(?:# |ℹ )fail (\d+)$/m.exec(run.result)?.[1]
  if (failed !== undefined)
    return say(`${failed} of the tests fail${failed === '1' ? 's' : ''}; ask me to fix it.`)
  return say(`The tests did not run (${firstLine(run.result)}). Run \`${TEST_COMMAND}\` yourself to check.`)
}

function noteMove(sight: Sight): Move {
  if (!sight.tools.has('write'))
    return finish('I may not write files in this access mode; allow it with `--workspace-edit`.')
  const write = sight.calls.find(({ name }) => name === 'write')
  if (write === undefined) {
    const content = `# Notes\n\nAsked for: ${firstLine(sight.asked)}\n\n- Who takes ten or more pieces of one thing pays a tenth less for it.\n`
    return call('I write a note.', 'write', { path: 'NOTES.md', content })
  }
  if (!write.result.startsWith('wrote')) return finish(`The note was not written: ${firstLine(write.result)}`)
  return finish('I wrote `NOTES.md`.')
}

function lookMove(sight: Sight): Move {
  const root = listing(sight, '.')
  if (root === null) return call('I look at what is here.', 'ls', { path: '.' })
  const named = /[\w./-]+\.\w+/.exec(sight.asked)?.[0]
  const path = named ?? root.find((name) => name === 'README.md')
  const wasRead = sight.calls.some(({ name }) => name === 'read')
  if (path !== undefined && !wasRead) return call(`I read \`${path}\`.`, 'read', { files: [{ path }] })
  const names = root.map((name) => `\`${name}\``).join(', ')
  const [file] = readFiles(sight)
  const about =
    file === undefined
      ? ''
      : ` \`${path}\` has ${file.text.split('\n').length} lines and begins: ${firstLine(file.text)}`
  return finish(
    `This folder holds ${names || 'nothing'}.${about} Ask me to fix the failing test, to run the tests, or to write a note.`,
  )
}

function call(text: string, name: string, input: Readonly<Record<string, unknown>>): Move {
  return { text, calls: [{ name, input }] }
}

function finish(text: string): Move {
  return { text: `${text}\n\n${SIGNATURE}`, calls: [] }
}

/** The first line that says something, cut to a readable length. */
function firstLine(text: string): string {
  const line =
    text
      .split('\n')
      .find((candidate) => candidate.trim() !== '')
      ?.trim() ?? '(nothing)'
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}
