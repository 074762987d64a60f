import { realpathSync } from 'node:fs'
import type { Approval, ApprovalRequest } from '../agent/callSettings.ts'
import type { StopReason, TurnEvent } from '../agent/events.ts'
import { readInstructions } from '../agent/instructions.ts'
import { runTurn as runAgent } from '../agent/loop.ts'
import { makeEffectivePrompt } from '../agent/prompt.ts'
import type { ConfigOverrides } from '../config/resolve.ts'
import type { Step } from '../conversation/appendPlan.ts'
import { familyOf } from '../conversation/library.ts'
import type { ChainItem, Message } from '../conversation/message.ts'
import type { WriterLock } from '../conversation/writers.ts'
import { DisplacedFiles } from '../edits/displaced.ts'
import { Journal } from '../edits/journal.ts'
import { journalPathOf } from '../edits/journalLine.ts'
import { observeTracked } from '../edits/observe.ts'
import type { HoldWait } from '../workspace/hold.ts'
import { makeIsClosed } from '../workspace/ownSpelling.ts'
import type { Workspace } from '../workspace/root.ts'
import { type ChosenModel, chooseModel } from './chooseModel.ts'
import { judgeDeadTurns, livenessOf, makeCompletion } from './deadTurns.ts'
import { installDocs } from './installDocs.ts'
import { makeCurrent } from './makeCurrent.ts'
import { type OpenedTarget, openTarget, type TurnTarget } from './openTarget.ts'
import { newMessageId, type Place, workspaceOf } from './place.ts'
import { TurnLog } from './turnLog.ts'
import { makeNotices, noticeOf, strayNotice } from './turnNotices.ts'
import { attributionOf, makeTurnTools, type TurnToolsOptions } from './turnTools.ts'
import { findUnanswered, refuseAnsweredElsewhere } from './unanswered.ts'
import { withWriter } from './withWriter.ts'

export interface TurnOptions {
  /** Null: the last user message of the branch is answered, if it has no final answer yet. */
  readonly prompt: string | null
  readonly target: TurnTarget
  readonly overrides: ConfigOverrides
  readonly demo: boolean
  /** How often the model is asked at most; null: 200 times. */
  readonly maxSteps: number | null
  /** Asks the user about a call. May wait for ever; a rejection counts as no. */
  readonly approve: (request: ApprovalRequest) => Promise<Approval>
  /** Must not throw. */
  readonly emit: (event: TurnEvent) => void
  /** Cancels the turn, which is then completed as cancelled. */
  readonly signal: AbortSignal
}

export interface TurnOutcome {
  readonly chat_id: string
  readonly stop_reason: StopReason
  /** The final answer. */
  readonly text: string
  /** The branch's last message now: what the user has seen. */
  readonly tip: string | null
}

const defaultSteps = 200
/** How long a cancelled tool may take to end, in milliseconds. */
const cancelGraceMs = 5000

/**
 * One turn of the agent, from the user's message to the end of the answer, each message saved before it is told. Throws
 * what configuration, finding the branch and saving throw; all that goes wrong in the turn itself ends in a complete turn.
 */
export async function runTurn(place: Place, options: TurnOptions): Promise<TurnOutcome> {
  const chosen = await chooseModel(place, options)
  const opened = await openTarget(place, options.target, chosen.modelId)
  const asked = options.prompt === null ? findUnanswered(opened) : null
  return await withWriter(place, (writer) => runAsWriter({ place, options, chosen, opened, asked, writer }))
}

interface Work {
  readonly place: Place
  readonly options: TurnOptions
  readonly chosen: ChosenModel
  readonly opened: OpenedTarget
  /** The message that is answered without a prompt. */
  readonly asked: ChainItem | null
  readonly writer: WriterLock
}

async function runAsWriter(work: Work): Promise<TurnOutcome> {
  const { place, options, chosen, writer } = work
  const workspace = workspaceOf(place)
  const emit = (event: TurnEvent) => options.emit(withJournalPath(event, workspace.root))
  const journal = new Journal({ home: place.root, workspace })
  const notices = makeNotices(emit)
  const { modelId, strayProvider } = chosen
  if (strayProvider !== null) notices.tell(strayNotice(modelId, strayProvider))
  const displaced = new DisplacedFiles({
    ...{ journal, writer: writer.id, now: place.now, newId: () => newMessageId(place) },
    onForeign: (bytes) => notices.tell(noticeOf(bytes)),
  })
  try {
    return await runWithJournal(work, { workspace, emit, journal, notices, displaced })
  } finally {
    await displaced.settle()
  }
}

interface Surroundings {
  readonly workspace: Workspace
  readonly emit: (event: TurnEvent) => void
  readonly journal: Journal
  readonly notices: ReturnType<typeof makeNotices>
  readonly displaced: DisplacedFiles
}

async function runWithJournal(
  work: Work,
  { workspace, emit, journal, notices, displaced }: Surroundings,
): Promise<TurnOutcome> {
  const { place, options, chosen, opened, writer } = work
  const { conversation, standing } = opened
  const { signal } = options
  const log = new TurnLog({
    place,
    conversation,
    writer,
    standing,
    journal: journal.place,
    onNotice: notices.tell,
  })
  const wait: HoldWait = {
    timeoutMs: null,
    signal,
    onWait: (written) =>
      emit({
        type: 'status',
        text: `waiting for another process that writes in this workspace, to write ${written}`,
      }),
  }
  const turn = newMessageId(place)
  const docsFolder = await installDocs(place)
  const policy = {
    ...{ mode: chosen.accessMode, workspace: place.cwd },
    // As they really are, or a link to them would not be protected.
    ...{ docsFolder: realpathSync(docsFolder), cassHome: realpathSync(place.root) },
  }
  const toolsOptions = {
    place,
    chosen,
    policy,
    journal,
    displaced,
    conversation: conversation.id,
    writer: writer.id,
    turn,
    log,
    wait,
  }
  const begun = await beginTurn(work, { turn, log, toolsOptions })
  const instructions = await readInstructions({
    ...{ root: workspace.root, folder: place.cwd, isClosed: makeIsClosed(policy.cassHome) },
  })
  emit({
    ...{ type: 'session_started', chat_id: log.chatId, conversation: conversation.id, model: chosen.modelId },
    ...{ access_mode: chosen.accessMode, message_id: begun.userId },
    instructions: instructions.files.map((file) => file.path),
  })
  notices.flush()
  for (const { path: file, reason } of instructions.skipped) {
    emit({
      type: 'notice',
      code: 'instructions_skipped',
      text: `${file} is not used: ${reason}`,
      chat_id: null,
    })
  }
  const turnTools = makeTurnTools(toolsOptions)
  const system = makeEffectivePrompt(systemTextOf(begun.messages), {
    model: chosen.modelId,
    accessMode: chosen.accessMode,
    cwd: place.cwd,
    docsFolder,
    tools: turnTools.tools.map(({ name }) => name),
    instructions: instructions.files,
  })
  const { stop_reason, usage, text } = await runAgent({
    ...turnTools,
    ...{ model: chosen.model, modelId: chosen.modelId, reasoning: chosen.reasoning, limits: chosen.limits },
    ...{ system, messages: begun.messages, maxSteps: options.maxSteps ?? defaultSteps },
    ...{ emit, signal, approve: options.approve, cancelGraceMs },
    record: (message, { id }) => log.save(() => [log.step({ id, turn, message })]),
    newMessageId: () => newMessageId(place),
    newApprovalId: () => `approval_${newMessageId(place)}`,
    now: () => place.now().toISOString(),
  })
  await displaced.look()
  await log.save(() => [{ type: 'end', turn }])
  await displaced.settle()
  emit({
    type: 'turn_finished',
    chat_id: log.chatId,
    records: conversation.recordCount(log.head),
    stop_reason,
    usage,
  })
  return { chat_id: log.chatId, stop_reason, text, tip: conversation.head(log.head).leaf }
}

interface Beginning {
  readonly turn: string
  readonly log: TurnLog
  readonly toolsOptions: TurnToolsOptions
}

/** Completes what dead processes left, looks at tracked files, and saves the user's message. */
async function beginTurn(
  { place, options, chosen, opened, asked, writer }: Work,
  { turn, log, toolsOptions }: Beginning,
): Promise<{ readonly userId: string; readonly messages: ReadonlyArray<Message> }> {
  const { conversation, standing, opening } = opened
  const { signal, prompt } = options
  const { journal, displaced } = toolsOptions
  const newId = () => newMessageId(place)
  const dead = await judgeDeadTurns({
    ...{ place, conversation, head: standing.head, journal, displaced },
    ...{ writer: writer.id, newLineId: newId, signal },
  })
  const complete = makeCompletion(place, conversation, dead)
  await observeTracked({
    ...livenessOf(place),
    ...{ journal, displaced, now: place.now, newId, attribution: attributionOf(toolsOptions) },
    family: new Set(opening === null ? familyOf(place.root, conversation.id) : []),
    maxFileBytes: chosen.settings.snapshots.maxFileBytes,
    wait: toolsOptions.wait,
  })
  const user = {
    id: newId(),
    turn,
    message: { role: 'user' as const, content: prompt ?? '', ts: place.now().toISOString() },
  }
  await log.save((graph, deadWriters): Step[] => {
    if (asked !== null) refuseAnsweredElsewhere(graph, { head: log.head, writer: writer.id, deadWriters })
    return [
      ...complete(log, graph, deadWriters),
      ...(opening === null ? [] : [log.step({ ...opening, turn: null })]),
      { type: 'begin', turn, ...(asked === null ? {} : { leaf: asked.parent }) },
      ...(asked === null ? [log.step(user)] : []),
    ]
  })
  if (opening !== null) {
    await makeCurrent(place, {
      seen: opened.current,
      next: { chat_id: conversation.id, conversation: conversation.id },
    })
  }
  const { head } = log
  return {
    userId: asked?.id ?? user.id,
    messages: conversation.items(conversation.chain(head), 'whole', head).map(({ message }) => message),
  }
}

/** Events name files as the journal does: relative to the workspace, absolute only outside it. */
function withJournalPath(event: TurnEvent, root: string): TurnEvent {
  return event.type === 'file_changed' ? { ...event, path: journalPathOf(root, event.path) } : event
}

function systemTextOf(messages: ReadonlyArray<Message>): string {
  return messages.find(({ role }) => role === 'system')?.content ?? ''
}
