import { Option } from 'clipanion'
import type { StopReason, TurnEvent } from '../sources/agent/events.ts'
import { runTurn } from '../sources/session/runTurn.ts'
import { usageError } from './argv.ts'
import { isCount, refuseTogether } from './options.ts'
import { makeColours } from './terminal/colours.ts'
import { readAll } from './terminal/input.ts'
import { makeProgress } from './terminal/progress.ts'
import { TurnCommand } from './turnCommand.ts'

/** `cass run`: one turn without a chat, for scripts. */
export class RunCommand extends TurnCommand {
  static override paths = [['run']]
  static override readonly words = '[PROMPT…]'

  static override usage = TurnCommand.Usage({
    category: 'Porcelain',
    description: 'let the agent do one turn; the answer goes to stdout',
    details: `
      The prompt is what the arguments say; text from a pipe or a file is appended to it, and alone it is the prompt.
      Every run begins a new chat unless \`--continue\` or \`--branch\` says otherwise. Without a prompt these
      two answer the last message of the branch if it has no final answer yet: also after Ctrl-C, a failure, or the step
      limit.

      A call that needs approval is denied, and the turn goes on, unless \`--approve\` says \`shell\` or \`all\`. With
      \`--json\`, every event is one line of JSON. Ctrl-C completes the turn as cancelled.
    `,
    examples: [
      ['One task in a new chat', '$0 run "rename the option --fast to --quick"'],
      ['Go on with the current branch', '$0 run --continue "now the tests"'],
      [
        'Text from a pipe, shell commands approved',
        'git diff | $0 run --approve shell "review this, run the tests"',
      ],
      ['On a branch, as events for a script', '$0 run --branch retry --json "try again"'],
    ],
  })

  branch = Option.String('--branch', { description: 'the branch to go on with' })
  new = Option.Boolean('--new', false, { description: 'begin a new chat, which is the default' })
  approve = Option.String('--approve', { description: 'what to approve without asking: shell, all or none' })
  maxSteps = Option.String('--max-steps', { description: 'model calls at most (200)', validator: isCount })
  words = Option.Rest({ name: 'PROMPT' })

  async execute(): Promise<number> {
    const { print, globals, interrupts } = this.context
    const target = this.#target()
    const overrides = this.readOverrides()
    const isApproved = parseApproval(this.approve ?? 'none')
    const prompt = await this.#readPrompt()
    if (prompt === null && target.type === 'new') {
      throw usageError('there is no prompt', 'give it as an argument or through a pipe')
    }
    const place = await this.preparePlace({ goesOn: target.type !== 'new' })
    const progress = makeProgress(print, await makeColours(this.context, 'stderr'))
    const cancel = new AbortController()
    const stopListening = interrupts.listen(() => cancel.abort())
    try {
      const { stop_reason, text, chat_id } = await runTurn(place, {
        prompt,
        target,
        overrides,
        demo: this.demo,
        maxSteps: this.maxSteps ?? null,
        approve: async ({ name }) => isApproved(name),
        emit: (event: TurnEvent) => (globals.json ? print.json(event) : progress(event)),
        signal: cancel.signal,
      })
      if (!globals.json) this.#printEnd(stop_reason, { text, chatId: chat_id, cwd: place.cwd })
      return exitCodes[stop_reason]
    } finally {
      stopListening()
    }
  }

  #target() {
    const { branch } = this
    refuseTogether({ '--branch': branch !== undefined, '--continue': this.continue, '--new': this.new })
    if (branch !== undefined) return { type: 'branch', branch } as const
    return { type: this.continue ? 'continue' : 'new' } as const
  }

  async #readPrompt(): Promise<string | null> {
    const { stdin, hasInput } = this.context
    const input = hasInput ? (await readAll(stdin)).trimEnd() : ''
    const parts = [this.words.join(' '), input].filter((part) => part.trim() !== '')
    return parts.length === 0 ? null : parts.join('\n\n')
  }

  #printEnd(
    stopReason: StopReason,
    { text, chatId, cwd }: { readonly text: string; readonly chatId: string; readonly cwd: string },
  ): void {
    const { print } = this.context
    const goOn = this.demo ? `cd ${cwd} && cass run --demo --branch ${chatId}` : `cass run --branch ${chatId}`
    if (text !== '') print.data(text)
    if (stopReason === 'length') print.warn('the answer was cut at the output limit of the model')
    if (stopReason === 'step_limit') {
      print.warn('the turn was stopped at its step limit')
      print.hint(`go on with \`${goOn}\`, or give it more with \`--max-steps\``)
    }
    if (stopReason === 'error') print.hint(`go on with \`${goOn}\``)
    if (stopReason === 'cancelled') print.note(`cancelled; go on with \`${goOn}\``)
  }
}

const exitCodes: Readonly<Record<StopReason, number>> = {
  stop: 0,
  length: 0,
  cancelled: 130,
  step_limit: 1,
  error: 1,
}

function parseApproval(value: string) {
  const refusal = { approved: false, nobody: true }
  switch (value) {
    case 'all':
      return () => ({ approved: true })
    case 'shell':
      return (tool: string) => (tool === 'shell' ? { approved: true } : refusal)
    case 'none':
      return () => refusal
    default:
      throw usageError(`'--approve' is shell, all or none, not '${value}'`, 'see `cass run --help`')
  }
}
