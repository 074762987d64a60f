import type { Notice, ToolCall } from '../conversation/message.ts'
import type { Tool, ToolOutcome } from '../tools/tool.ts'
import { afterAbort } from './afterAbort.ts'
import { type CallInput, parseArguments, shownArguments } from './arguments.ts'
import type { Approval, CallSettings, Decision } from './callSettings.ts'
import * as texts from './notices.ts'

/** Tools that change nothing: neighbouring calls of them run at the same time, and a cancel does not wait for them. */
export const READ_ONLY_TOOLS: ReadonlySet<string> = new Set(['ls', 'read', 'grep'])

/** A call with its result. `notice` is null when the tool or the policy made the result. */
export interface FinishedCall extends ToolOutcome {
  readonly type: 'finished'
  readonly call: ToolCall
  readonly messageId: string
  readonly notice: Notice | null
}

interface ReadyCall {
  readonly type: 'ready'
  readonly call: ToolCall
  readonly messageId: string
  readonly tool: Tool
  readonly input: Readonly<Record<string, unknown>>
}

/** Everything before a call runs: its arguments, the policy, the user's approval. Never rejects. */
export async function prepareCall(
  settings: CallSettings,
  { call, isCut }: { call: ToolCall; isCut: boolean },
): Promise<ReadyCall | FinishedCall> {
  const messageId = settings.newMessageId()
  if (settings.signal.aborted) return cancelled(call, messageId)
  const input = parseArguments(call.arguments)
  const { id, name } = call
  settings.emit({ type: 'tool_call_started', id, name, arguments: shownArguments(call.arguments, input) })
  if (input.type === 'broken') {
    return failed(call, messageId, texts.brokenArguments(input.cause, { cut: isCut }))
  }
  const tool = settings.tools.find((candidate) => candidate.name === name)
  // Asked also about a tool that is not offered: only the policy knows whether its mode is the reason.
  const decision = await decide(settings, call, input.value)
  if (decision === null) return cancelled(call, messageId)
  if (decision.type === 'deny') return failed(call, messageId, decision.reason)
  if (tool === undefined) return failed(call, messageId, `unknown tool \`${name}\``)
  if (decision.type === 'ask') {
    const refusal = await askUser(settings, { call, input, decision })
    if (settings.signal.aborted) return cancelled(call, messageId)
    if (refusal !== null) return failed(call, messageId, refusal)
  }
  return { type: 'ready', call, messageId, tool, input: input.value }
}

/** Runs a call. Never rejects: what a tool throws becomes its result. `signal` stops it. */
export async function executeCall(
  settings: CallSettings,
  { call: ready, signal }: { call: ReadyCall | FinishedCall; signal: AbortSignal },
): Promise<FinishedCall> {
  if (ready.type === 'finished') return ready
  const { call, messageId, tool, input } = ready
  if (signal.aborted) return cancelled(call, messageId)
  let isOver = false
  const run = async (): Promise<FinishedCall> => {
    try {
      const outcome = await tool.run(input, {
        ...settings.toolContextFor(call, messageId),
        signal,
        onOutput: (stream, content) => {
          // After its result nothing of a call is told any more.
          if (isOver) return
          settings.emit({ type: 'tool_output_chunk', id: call.id, name: call.name, stream, content })
        },
      })
      return { type: 'finished', call, messageId, notice: null, ...outcome }
    } catch (error) {
      if (signal.aborted) return cancelled(call, messageId)
      return failed(call, messageId, error instanceof Error ? error.message : 'the tool failed')
    }
  }
  const isReadOnly = READ_ONLY_TOOLS.has(call.name)
  // What can change files is waited for, so that its result tells what it did.
  const grace = afterAbort(signal, isReadOnly ? 0 : settings.cancelGraceMs)
  const finished = await Promise.race([run(), grace.promise])
  isOver = true
  grace.stop()
  if (finished !== null) return finished
  return cancelled(call, messageId, isReadOnly ? texts.TOOL_CANCELLED : texts.TOOL_NOT_STOPPED)
}

function cancelled(call: ToolCall, messageId: string, content: string = texts.TOOL_CANCELLED): FinishedCall {
  return { type: 'finished', call, messageId, ok: false, content, changes: [], notice: 'cancelled' }
}

function failed(call: ToolCall, messageId: string, content: string): FinishedCall {
  return { type: 'finished', call, messageId, ok: false, content, changes: [], notice: null }
}

/** The policy's answer, or null when the turn was cancelled first. */
async function decide(
  { decide: ask, signal }: CallSettings,
  { id, name }: ToolCall,
  input: Readonly<Record<string, unknown>>,
): Promise<Decision | null> {
  const decided = async (): Promise<Decision> => {
    try {
      return await ask({ id, name, input })
    } catch (error) {
      // What cannot be decided is not allowed.
      return { type: 'deny', reason: error instanceof Error ? error.message : 'the access check failed' }
    }
  }
  const { promise, stop } = afterAbort(signal, 0)
  const decision = await Promise.race([decided(), promise])
  stop()
  return decision
}

/** Asks for approval. The words for the model when it is refused, else null. */
async function askUser(
  { approve, newApprovalId, emit, signal }: CallSettings,
  {
    call,
    input,
    decision,
  }: { call: ToolCall; input: CallInput; decision: Extract<Decision, { type: 'ask' }> },
): Promise<string | null> {
  const request = {
    request_id: newApprovalId(),
    tool_call_id: call.id,
    name: call.name,
    arguments: shownArguments(call.arguments, input),
    reason: decision.reason,
  }
  emit({ type: 'approval_requested', ...request })
  const answered = async (): Promise<Approval> => {
    try {
      return await approve(request)
    } catch {
      // Whoever was asked is gone: that is no consent.
      return { approved: false }
    }
  }
  const { promise, stop } = afterAbort(signal, 0)
  const answer = (await Promise.race([answered(), promise])) ?? { approved: false }
  stop()
  // A yes that comes together with a cancel is none.
  const approved = answer.approved && !signal.aborted
  emit({ type: 'approval_resolved', request_id: request.request_id, approved })
  if (approved) return null
  if (answer.nobody === true) return texts.NOBODY_TO_APPROVE
  const refusal = decision.destructive === true ? texts.DENIED_DESTRUCTIVE : texts.DENIED_APPROVAL
  return answer.reason === undefined ? refusal : `${refusal}: ${answer.reason}`
}
