import { writeFileSync } from 'node:fs'
import { DisplacedFiles } from '../../../sources/edits/displaced.ts'
import { makeEditSink } from '../../../sources/edits/editSink.ts'
import { Journal } from '../../../sources/edits/journal.ts'
import { makeWorkspace } from '../../../sources/workspace/root.ts'

/** What the process is told to do, as JSON in its only argument. */
export interface WorkerTask {
  readonly home: string
  readonly root: string
  readonly file: string
  readonly writer: string
  /** Bytes to write, one edit after the other. */
  readonly texts: ReadonlyArray<string>
  /** Kills itself there in its last edit; null: never. */
  readonly killAt: string | null
  /** Writes into the file, as another program would, when it gets there. */
  readonly foreign: { readonly at: string; readonly text: string } | null
  readonly withoutSwap: boolean
}

const task: WorkerTask = JSON.parse(process.argv[2] ?? '')
let ids = 0
let last = false

const journal = new Journal({ home: task.home, workspace: makeWorkspace(task.root) })
const source = {
  now: () => new Date(),
  newId: () => {
    ids += 1
    return `${task.writer}-${ids}`
  },
}
const displaced = new DisplacedFiles({ ...source, journal, writer: task.writer, onForeign: () => {} })
const sink = makeEditSink({
  ...source,
  journal,
  displaced,
  attribution: {
    writer: task.writer,
    chat_id: 'chat',
    conversation: 'conv',
    turn: 't1',
    message_id: `m-${task.writer}`,
  },
  settings: { maxFileBytes: 1 << 20, required: true },
  newFileMode: 0o644,
  wait: { timeoutMs: 60_000, signal: null, onWait: null },
  liveness: { isWriterAlive: async () => true, isMessageInLog: async () => false },
  hooks: {
    onStep: (step) => {
      if (step === task.foreign?.at) writeFileSync(task.file, task.foreign.text)
      if (last && step === task.killAt) process.kill(process.pid, 'SIGKILL')
    },
    ...(task.withoutSwap ? { swap: null } : {}),
  },
})

let changed = 0
for (const [index, text] of task.texts.entries()) {
  last = index === task.texts.length - 1
  const observed = await sink.observe(task.file)
  try {
    await sink.publish({ realPath: task.file, observed, bytes: Buffer.from(text) })
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'file_changed') throw error
    changed += 1
  }
}
await displaced.settle()
process.stdout.write(JSON.stringify({ changed }))
