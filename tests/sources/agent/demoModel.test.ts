import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CallSettings } from '../../../sources/agent/callSettings.ts'
import { makeDemoModel } from '../../../sources/agent/demoModel.ts'
import { AbortedAnswer, type ModelEvent } from '../../../sources/agent/model.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import type { EditSink } from '../../../sources/edits/editSink.ts'
import { edit } from '../../../sources/tools/edit.ts'
import { ls } from '../../../sources/tools/ls.ts'
import { read } from '../../../sources/tools/read.ts'
import { shell } from '../../../sources/tools/shell.ts'
import type { Tool } from '../../../sources/tools/tool.ts'
import { write } from '../../../sources/tools/write.ts'
import { makeTool, runScript, type TurnRun, userMessage } from './_turn.ts'

const SAMPLE = fileURLToPath(new URL('../../../fixtures/sample-project', import.meta.url))
const SIGNATURE = /demo model inside cass.*`cass setup`/

let folder: string

beforeEach(async () => {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'cass-demo-')))
  folder = join(top, 'market-stall')
  await cp(SAMPLE, folder, { recursive: true })
})

afterEach(() => rm(dirname(folder), { recursive: true, force: true }))

/** Publishes without a journal. */
const sink: EditSink = {
  observe: async (path) => {
    const bytes = await readFile(path).catch(() => null)
    return {
      exists: bytes !== null,
      bytes,
      sha256: bytes === null ? null : 'any',
      mode: bytes === null ? null : 0o644,
    }
  },
  publish: async ({ realPath, bytes }) => {
    await mkdir(dirname(realPath), { recursive: true })
    await writeFile(realPath, bytes)
  },
}

function toolContextFor(): ReturnType<CallSettings['toolContextFor']> {
  return {
    cwd: folder,
    home: '/nowhere',
    policy: {
      mode: 'full-access',
      workspace: folder,
      docsFolder: '/nowhere/docs',
      cassHome: '/nowhere/.cass',
    },
    edits: sink,
    shellEnvironment: { PATH: process.env.PATH ?? '' },
    holdWorkspace: async () => async () => {},
  }
}

function askDemo(
  prompt: string,
  tools: ReadonlyArray<Tool>,
  earlier: ReadonlyArray<Message> = [],
): Promise<TurnRun> {
  return runScript([], {
    model: makeDemoModel({ pauseMs: 0 }),
    messages: [...earlier, userMessage(prompt)],
    tools,
    toolContextFor,
  })
}

function namesOf({ events }: TurnRun): ReadonlyArray<string> {
  return events.flatMap((event) => (event.type === 'tool_call_started' ? [event.name] : []))
}

describe('the demo model', () => {
  it('fixes the failing test with real tool calls and checks it', async () => {
    const run = await askDemo('Please fix the failing test.', [ls, read, edit, shell])
    expect(namesOf(run)).toEqual(['ls', 'ls', 'ls', 'read', 'edit', 'shell'])
    expect(run.recorded.filter(({ ok }) => ok === false)).toEqual([])
    expect(await readFile(join(folder, 'src/basket.js'), 'utf8')).toContain('pieces >= BULK_PIECES')
    expect(run.result.text).toContain('All tests pass.')
    expect(run.result.text).toMatch(SIGNATURE)
    expect(run.events.filter(({ type }) => type === 'assistant_chunk').length).toBeGreaterThan(10)
  })

  it('sees that the bug is already fixed', async () => {
    await askDemo('fix the bug', [ls, read, edit, shell])
    const run = await askDemo('fix the bug', [ls, read, edit, shell])
    expect(namesOf(run)).not.toContain('edit')
    expect(run.result.text).toContain('already compares')
  })

  it('tells of the bug when it may not change files', async () => {
    const run = await askDemo('Why does the test fail?', [ls, read])
    expect(run.result.text).toContain('should be `>=`')
    expect(run.result.text).toContain('--workspace-edit')
    expect(run.result.text).toMatch(SIGNATURE)
  })

  it('runs the tests and says what they say', async () => {
    const run = await askDemo('Run the tests', [ls, read, shell])
    expect(namesOf(run)).toEqual(['shell'])
    expect(run.result.text).toContain('1 of the tests fails')
  })

  it('goes on when the shell is denied', async () => {
    const denied = makeTool('shell', () => ({
      ok: false,
      content: 'user denied approval for this tool call',
      changes: [],
    }))
    const run = await askDemo('fix it', [ls, read, edit, denied])
    expect(run.result.text).toContain('user denied approval')
    expect(run.result.text).toContain('node --test')
  })

  it('writes a note of what it was asked', async () => {
    const run = await askDemo('Write a note for the others', [ls, read, write])
    expect(run.result.text).toContain('I wrote `NOTES.md`.')
    expect(await readFile(join(folder, 'NOTES.md'), 'utf8')).toContain(
      'Asked for: Write a note for the others',
    )
  })

  it('looks around when it is asked anything else', async () => {
    const run = await askDemo('What is this?', [ls, read, edit, shell])
    expect(namesOf(run)).toEqual(['ls', 'read'])
    expect(run.result.text).toContain('`src/`')
    expect(run.result.text).toContain('# market-stall')
    expect(run.result.text).toMatch(SIGNATURE)
  })

  it('reads the file that it is asked about', async () => {
    const run = await askDemo('What is in src/money.js?', [ls, read])
    expect(run.result.text).toContain('`src/money.js` has 6 lines')
  })

  it('says what it is when it has no tools', async () => {
    const run = await askDemo('fix it', [])
    expect(run.result).toMatchObject({ stop_reason: 'stop' })
    expect(run.result.text).toMatch(SIGNATURE)
  })

  it('answers the same to the same request', async () => {
    const first = await askDemo('What is this?', [ls, read])
    const second = await askDemo('What is this?', [ls, read])
    expect(second.events).toEqual(first.events)
  })

  it('gives the calls of each turn ids of their own', async () => {
    const first = await askDemo('What is this?', [ls, read])
    const second = await askDemo(
      'And the tests?',
      [ls, read, shell],
      [userMessage('What is this?'), ...first.recorded],
    )
    const ids = [...first.recorded, ...second.recorded].flatMap(({ tool_calls = [] }) =>
      tool_calls.map(({ id }) => id),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('comes to an end with tools that always fail', async () => {
    const broken = (name: string) => makeTool(name, () => ({ ok: false, content: 'broken', changes: [] }))
    for (const prompt of ['fix it', 'run the tests', 'write a note', 'hello']) {
      const run = await askDemo(prompt, ['ls', 'read', 'edit', 'write', 'shell'].map(broken))
      expect(run.result.stop_reason).toBe('stop')
      expect(run.result.text).toMatch(SIGNATURE)
    }
  })

  it('keeps what it has said when it is cancelled', async () => {
    const controller = new AbortController()
    const heard: ModelEvent[] = []
    const asking = makeDemoModel({ pauseMs: 0 })(
      { model: 'demo', messages: [{ role: 'user', content: 'hi' }], tools: [], reasoning: null },
      {
        signal: controller.signal,
        emit: (event) => {
          heard.push(event)
          controller.abort()
        },
      },
    )
    const error = await asking.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AbortedAnswer)
    expect((error as AbortedAnswer).partial.text).toBe(heard[0]!.text)
    expect(heard).toHaveLength(1)
  })
})
