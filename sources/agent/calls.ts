import type { Message, ToolCall } from '../conversation/message.ts'
import type { CallSettings } from './callSettings.ts'
import { executeCall, type FinishedCall, prepareCall, READ_ONLY_TOOLS } from './oneCall.ts'

/**
 * Runs the calls of one assistant message and records a result for each, in call order. After a cancel the calls
 * that are left get a result that says so. Rejects only when `record` does; then nothing of it runs any more.
 */
export async function runCalls(
  settings: CallSettings,
  { calls, isCut }: { readonly calls: ReadonlyArray<ToolCall>; readonly isCut: boolean },
): Promise<{ readonly results: ReadonlyArray<Message>; readonly isCancelled: boolean }> {
  const failure = new AbortController()
  const signal = AbortSignal.any([settings.signal, failure.signal])
  const results: Message[] = []
  for (const batch of batches(calls)) {
    const prepared = []
    for (const call of batch) prepared.push(await prepareCall(settings, { call, isCut }))
    const running = prepared.map((call) => executeCall(settings, { call, signal }))
    try {
      for (const call of running) results.push(await finish(settings, await call))
    } catch (error) {
      failure.abort()
      await Promise.allSettled(running)
      throw error
    }
  }
  return { results, isCancelled: settings.signal.aborted }
}

/** Neighbouring calls that change nothing stand together, each other call alone. */
function batches(calls: ReadonlyArray<ToolCall>): ReadonlyArray<ReadonlyArray<ToolCall>> {
  const all: ToolCall[][] = []
  for (const call of calls) {
    const last = all.at(-1)
    const isReadOnly = READ_ONLY_TOOLS.has(call.name)
    if (isReadOnly && last?.[0] !== undefined && READ_ONLY_TOOLS.has(last[0].name)) last.push(call)
    else all.push([call])
  }
  return all
}

/** Stores the result, and tells of it only then. */
async function finish(settings: CallSettings, finished: FinishedCall): Promise<Message> {
  const { call, messageId, ok, content, changes, notice } = finished
  const { id, name } = call
  const message: Message = {
    role: 'tool',
    content,
    tool_call_id: id,
    name,
    ok,
    ...(notice === null ? {} : { notice }),
    ts: settings.now(),
  }
  await settings.record(message, { id: messageId })
  settings.emit({ type: 'tool_result', id, name, ok, content, message_id: messageId })
  for (const { path, added, removed } of changes) {
    settings.emit({ type: 'file_changed', path, tool_call_id: id, added, removed })
  }
  return message
}
