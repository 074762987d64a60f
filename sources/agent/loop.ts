import type { Message, Usage } from '../conversation/message.ts'
import { type Answer, type AnswerError, askModel } from './answer.ts'
import type { CallSettings } from './callSettings.ts'
import { runCalls } from './calls.ts'
import { type ContextBudget, makeContext } from './context.ts'
import type { StopReason } from './events.ts'
import type { Completion, Model, ModelRequest, PartialAnswer } from './model.ts'
import * as texts from './notices.ts'
import { addUsage, NO_USAGE } from './usage.ts'

/** Everything a turn works with. It reads nothing else: no clock, no files, no configuration. */
export interface TurnInput extends CallSettings {
  readonly model: Model
  /** The model's id and its reasoning setting, as they go into each request. */
  readonly modelId: string
  readonly reasoning: ModelRequest['reasoning']
  /** The effective prompt of this turn. */
  readonly system: string
  /** The branch so far; its last user message is the one to answer. System messages in it are left out. */
  readonly messages: ReadonlyArray<Message>
  readonly limits: ContextBudget
  /** How often the model may be asked. */
  readonly maxSteps: number
}

export interface TurnResult {
  readonly stop_reason: StopReason
  readonly usage: Usage
  /** The answer: what the model said last, as far as it came; empty when there is none. */
  readonly text: string
}

/** What a turn carries from one step to the next. */
interface Progress {
  readonly messages: Message[]
  usage: Usage
  /** Set for one request after an empty answer. */
  nudge: Message | null
  /** Share of the model's room that a request may use; halved when the provider finds one too long. */
  share: number
}

/**
 * Answers the last user message: asks the model, runs the tools it calls, and so on until it answers without a call.
 * All that goes wrong with the model, the tools or the user's patience ends in a complete, recorded turn. Rejects only
 * when `record` does, after everything it started was stopped.
 */
export async function runTurn(input: TurnInput): Promise<TurnResult> {
  const progress: Progress = { messages: [...input.messages], usage: NO_USAGE, nudge: null, share: 1 }
  for (let step = 0; step < input.maxSteps; step++) {
    const answer = await ask(input, progress)
    if (answer.type !== 'complete') return endEarly(input, progress, answer)
    const { completion } = answer
    progress.usage = addUsage(progress.usage, completion.usage)
    if (isEmpty(completion)) {
      if (progress.nudge !== null) return endEmpty(input, progress)
      input.emit({ type: 'status', text: texts.EMPTY_ANSWER_STATUS })
      progress.nudge = { role: 'user', content: texts.EMPTY_ANSWER_NUDGE, ts: input.now() }
      continue
    }
    progress.nudge = null
    const message = await recordAnswer(input, progress, completion)
    const calls = message.tool_calls ?? []
    const isCut = completion.finish === 'length'
    if (calls.length > 0) {
      const { results, isCancelled } = await runCalls(input, { calls, isCut })
      progress.messages.push(...results)
      if (isCancelled) return endCancelled(input, progress, '')
    }
    if (isCut) return endCut(input, progress, completion)
    if (calls.length === 0) return result(progress, 'stop', completion.text)
  }
  const content = texts.stepLimit(input.maxSteps)
  await recordNotice(input, progress, { notice: 'interrupted', content })
  input.emit({ type: 'notice', code: 'step_limit', text: content, chat_id: null })
  return result(progress, 'step_limit', '')
}

/** Nothing for the user. An answer that was cut is not asked for again: it would be cut again. */
function isEmpty({ text, tool_calls, finish }: Completion): boolean {
  return tool_calls.length === 0 && text.trim() === '' && finish !== 'length'
}

/** One question. A request that the provider finds too long is made shorter once. */
async function ask(input: TurnInput, progress: Progress): Promise<Answer> {
  const { model, emit, signal } = input
  const first = await askModel({ model, request: requestOf(input, progress), emit, signal })
  const isTooLong = first.type === 'failed' && first.error.code === 'provider_context_too_long'
  if (!isTooLong || first.partial.text !== '' || progress.share < 1) return first
  emit({ type: 'status', text: texts.CONTEXT_RETRY_STATUS })
  progress.share = 0.5
  return askModel({ model, request: requestOf(input, progress), emit, signal })
}

function requestOf(
  { modelId, reasoning, tools, system, limits }: TurnInput,
  { messages, nudge, share }: Progress,
): ModelRequest {
  const specs = tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
  const context = makeContext({ system, messages, nudge, tools: specs, limits, share })
  return { model: modelId, messages: context.messages, tools: specs, reasoning }
}

async function recordAnswer(input: TurnInput, progress: Progress, answer: Completion): Promise<Message> {
  const message: Message = {
    ...assistantMessage(answer, input.now()),
    ...(answer.tool_calls.length === 0 ? {} : { tool_calls: withOwnIds(answer.tool_calls) }),
  }
  return recordMessage(input, progress, message)
}

/** Keeps what was streamed before the answer ended early; nothing when nothing was. */
async function recordPartial(input: TurnInput, progress: Progress, partial: PartialAnswer): Promise<void> {
  progress.usage = addUsage(progress.usage, partial.usage)
  if (partial.text.trim() === '' && partial.reasoning.trim() === '') return
  await recordMessage(input, progress, assistantMessage(partial, input.now()))
}

function assistantMessage({ text, reasoning, reasoning_field, usage }: PartialAnswer, ts: string): Message {
  return {
    role: 'assistant',
    content: text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(reasoning === '' || reasoning_field === null ? {} : { reasoning_field }),
    ...(usage === null ? {} : { usage }),
    ts,
  }
}

/** Some servers repeat an id within one answer. A checkpoint names a call by its id, so each gets its own. */
function withOwnIds(calls: Completion['tool_calls']): Completion['tool_calls'] {
  const used = new Set<string>()
  return calls.map((call) => {
    let id = call.id
    for (let n = 2; used.has(id); n++) id = `${call.id}_${n}`
    used.add(id)
    return { ...call, id }
  })
}

function recordNotice(
  input: TurnInput,
  progress: Progress,
  { notice, content }: Required<Pick<Message, 'notice' | 'content'>>,
): Promise<Message> {
  return recordMessage(input, progress, { role: 'assistant', content, notice, ts: input.now() })
}

async function recordMessage(input: TurnInput, progress: Progress, message: Message): Promise<Message> {
  await input.record(message, { id: input.newMessageId() })
  progress.messages.push(message)
  return message
}

async function endEarly(
  input: TurnInput,
  progress: Progress,
  answer: Exclude<Answer, { type: 'complete' }>,
): Promise<TurnResult> {
  await recordPartial(input, progress, answer.partial)
  if (answer.type === 'cancelled') return endCancelled(input, progress, answer.partial.text)
  return endFailed(input, progress, { error: answer.error, text: answer.partial.text })
}

async function endCancelled(input: TurnInput, progress: Progress, text: string): Promise<TurnResult> {
  await recordNotice(input, progress, { notice: 'cancelled', content: texts.TURN_CANCELLED })
  return result(progress, 'cancelled', text)
}

async function endFailed(
  input: TurnInput,
  progress: Progress,
  { error, text }: { error: AnswerError; text: string },
): Promise<TurnResult> {
  await recordNotice(input, progress, {
    notice: 'provider_error',
    content: texts.providerFailed(error.message),
  })
  input.emit({ type: 'error', ...error })
  return result(progress, 'error', text)
}

/** An answer that its output limit cut stands as it is; without text of its own the turn says why it ends. */
async function endCut(
  input: TurnInput,
  progress: Progress,
  { text, tool_calls }: Completion,
): Promise<TurnResult> {
  const content = texts.ANSWER_CUT
  const isAnswer = text.trim() !== '' && tool_calls.length === 0
  if (!isAnswer) await recordNotice(input, progress, { notice: 'interrupted', content })
  input.emit({ type: 'notice', code: 'answer_cut', text: content, chat_id: null })
  return result(progress, 'length', text)
}

async function endEmpty(input: TurnInput, progress: Progress): Promise<TurnResult> {
  await recordNotice(input, progress, { notice: 'interrupted', content: texts.EMPTY_ANSWER })
  input.emit({ type: 'notice', code: 'empty_answer', text: texts.EMPTY_ANSWER, chat_id: null })
  return result(progress, 'error', '')
}

function result({ usage }: Progress, stop_reason: StopReason, text: string): TurnResult {
  return { stop_reason, usage, text }
}
