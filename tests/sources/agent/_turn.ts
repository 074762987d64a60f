import type { ApprovalRequest, CallSettings } from '../../../sources/agent/callSettings.ts'
import type { TurnEvent } from '../../../sources/agent/events.ts'
import { runTurn, type TurnInput, type TurnResult } from '../../../sources/agent/loop.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import type { Tool, ToolContext, ToolOutcome } from '../../../sources/tools/tool.ts'
import { type Answer, scriptModel } from './_scriptedModel.ts'

export const NOW = '2030-01-02T03:04:05.000Z'

export interface TurnRun {
  readonly result: TurnResult
  readonly events: ReadonlyArray<TurnEvent>
  readonly recorded: ReadonlyArray<Message & { readonly message_id: string }>
  readonly requests: ReturnType<typeof scriptModel>['requests']
  /** Events and records in the order in which they happened. */
  readonly story: ReadonlyArray<string>
}

type Changes = Partial<TurnInput> & { readonly pause?: () => Promise<void> }

/** Runs one turn with a scripted model, tools that do as told, and a log in memory. */
export async function runScript(answers: ReadonlyArray<Answer>, changes: Changes = {}): Promise<TurnRun> {
  const { pause, ...overrides } = changes
  const { model, requests } = scriptModel(answers, pause === undefined ? {} : { pause })
  const events: TurnEvent[] = []
  const recorded: (Message & { message_id: string })[] = []
  const story: string[] = []
  let messages = 0
  let approvals = 0
  const input: TurnInput = {
    model,
    modelId: 'test-model',
    reasoning: null,
    system: 'You are a test.',
    messages: [userMessage('do it')],
    limits: { context_length: null, max_output_tokens: null, message_limit: 80, tool_result_limit: 24_000 },
    maxSteps: 200,
    tools: [],
    decide: () => ({ type: 'allow' }),
    approve: async () => ({ approved: true }),
    record: async (message, { id }) => {
      recorded.push({ ...message, message_id: id })
      story.push(`record ${message.role}`)
    },
    newMessageId: () => `m_${++messages}`,
    newApprovalId: () => `approval_${++approvals}`,
    toolContextFor: () => TOOL_CONTEXT,
    signal: new AbortController().signal,
    cancelGraceMs: 20,
    now: () => NOW,
    ...overrides,
    emit: (event) => {
      events.push(event)
      story.push(event.type)
      overrides.emit?.(event)
    },
  }
  const result = await runTurn(input)
  return { result, events, recorded, requests, story }
}

export function userMessage(content: string): Message {
  return { role: 'user', content, ts: NOW }
}

/** A tool that answers with what `run` says; a string stands for a success. */
export function makeTool(
  name: string,
  run: (input: unknown, context: ToolContext) => Promise<ToolOutcome | string> | ToolOutcome | string,
): Tool {
  return {
    name,
    description: `The ${name} tool.`,
    parameters: { type: 'object', properties: {} },
    run: async (input, context) => {
      const outcome = await run(input, context)
      return typeof outcome === 'string' ? { ok: true, content: outcome, changes: [] } : outcome
    },
  }
}

/** A promise that is settled from outside. */
export function makeGate(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

/** An approval that is never given. */
export function neverApprove(_request: ApprovalRequest): Promise<never> {
  return new Promise<never>(() => {})
}

const unused = () => {
  throw new Error('not used by these tools')
}

const TOOL_CONTEXT: ReturnType<CallSettings['toolContextFor']> = {
  cwd: '/project',
  home: '/home/me',
  policy: { mode: 'full-access', workspace: '/project', docsFolder: '/docs', cassHome: '/home/me/.cass' },
  edits: { observe: unused, publish: unused },
  shellEnvironment: {},
  holdWorkspace: unused,
}
