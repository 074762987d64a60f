import { Option } from 'clipanion'
import type { TurnEvent } from '../sources/agent/events.ts'
import { CassError } from '../sources/errors.ts'
import { chooseModel } from '../sources/session/chooseModel.ts'
import { openTarget } from '../sources/session/openTarget.ts'
import type { Place } from '../sources/session/place.ts'
import { runTurn } from '../sources/session/runTurn.ts'
import { refuseTogether } from './options.ts'
import { type ApprovalRequest, askApproval } from './terminal/approval.ts'
import { makeColours } from './terminal/colours.ts'
import { jobControl } from './terminal/jobControl.ts'
import { type Keyboard, openKeyboard } from './terminal/keyboard.ts'
import { makeProgress } from './terminal/progress.ts'
import { type Overrides, TurnCommand } from './turnCommand.ts'

type Target =
  | { readonly type: 'new' }
  | { readonly type: 'continue' }
  | { readonly type: 'branch'; readonly branch: string; readonly seen?: string }

/** `cass chat`, and `cass` alone: turn after turn, until the user leaves. */
export class ChatCommand extends TurnCommand {
  static override paths = [['chat']]
  static override readonly hasJson = false

  static override usage = TurnCommand.Usage({
    category: 'Porcelain',
    description: 'talk to the agent, turn after turn',
    details: `
      Begins a new chat unless BRANCH, \`--continue\` or \`--resume\` names one; its files appear with the first message.
      A call that needs approval is asked about. Ctrl-C in a turn cancels the turn, at the prompt it ends the chat, as
      Ctrl-D, \`/quit\`, \`quit\` and \`exit\` do; \`/help\` tells more. \`cass\` alone is the same as \`cass chat\`.
    `,
    examples: [
      ['A new chat in this folder', '$0 chat'],
      ['Go on where you were', '$0 chat --continue'],
      ['Look at it without a provider', '$0 chat --demo'],
    ],
  })

  resume = Option.String('--resume', { description: 'the chat to go on with; without an ID, list the chats' })
  branch = Option.String({ name: 'BRANCH', required: false })

  async execute(): Promise<number> {
    const { terminals } = this.context
    const target = this.#target()
    const overrides = this.readOverrides()
    if (!terminals.stdin || !terminals.stdout || !terminals.stderr) {
      throw new CassError('no_terminal', 'the chat needs a terminal', {
        hint: 'use `cass run` in scripts and pipes',
      })
    }
    const place = await this.preparePlace({ goesOn: target.type !== 'new' })
    return await this.#loop(place, { target, overrides })
  }

  #target(): Target {
    const { branch, resume } = this
    refuseTogether({
      BRANCH: branch !== undefined,
      '--resume': resume !== undefined,
      '--continue': this.continue,
    })
    const named = branch ?? resume
    if (named !== undefined) return { type: 'branch', branch: named }
    return { type: this.continue ? 'continue' : 'new' }
  }

  async #loop(
    place: Place,
    start: { readonly target: Target; readonly overrides: Overrides },
  ): Promise<number> {
    const { print, stdin, stderr } = this.context
    const colours = await makeColours(this.context, 'stderr')
    // What stops every turn is said before anybody has typed a message.
    const { modelId, accessMode } = await chooseModel(place, { overrides: start.overrides, demo: this.demo })
    await openTarget(place, start.target, modelId)
    print.note(
      `cass in ${place.cwd} · ${modelId} · ${accessMode}\n/help tells more, /quit or Ctrl-D ends the chat`,
    )
    const keyboard = openKeyboard({ stdin, stderr, jobs: jobControl })
    let { target } = start
    try {
      for (;;) {
        const line = await keyboard.ask(colours.bold('> '))
        if (line === null || leavingWords.has(line.trim())) break
        if (line.trim() === '' || this.#obey(line)) continue
        target =
          (await this.#takeTurn(place, { ...start, target, prompt: line, colours, keyboard })) ?? target
      }
    } finally {
      keyboard.close()
    }
    if (target.type === 'branch' && !this.demo)
      print.data(`Resume this chat with: cass --resume ${target.branch}`)
    return 0
  }

  /** Answers what is no message but a word for the chat itself. */
  #obey(line: string): boolean {
    // Pasted lines are always a message.
    const word = line.includes('\n') ? undefined : /^(\/[a-z][\w-]*)(?:\s|$)/i.exec(line)?.[1]
    if (word === undefined) return false
    const { print } = this.context
    if (word === '/help') print.note(chatHelp)
    else
      print.error(`unknown command '${word}'`, 'see /help; a message may begin with a blank and then with /')
    return true
  }

  /** Gives where the next turn goes on, with the last message that was shown; null when the turn did not come to a branch. */
  async #takeTurn(
    place: Place,
    turn: {
      readonly target: Target
      readonly overrides: Overrides
      readonly prompt: string
      readonly colours: Parameters<typeof makeProgress>[1]
      readonly keyboard: Keyboard
    },
  ): Promise<Target | null> {
    const { print, interrupts } = this.context
    const progress = makeProgress(print, turn.colours)
    const cancel = new AbortController()
    const stopListening = interrupts.listen(() => cancel.abort())
    // The terminal sends no signal while the keyboard is ours.
    const stopWatching = turn.keyboard.watch(() => cancel.abort())
    let isLineOpen = false
    const emit = (event: TurnEvent) => {
      if (event.type === 'assistant_chunk') {
        // It may hold the line of the call before, which belongs above this text.
        progress(event)
        print.chunk(event.text)
        isLineOpen = !event.text.endsWith('\n')
        return
      }
      if (isLineOpen) print.chunk('\n')
      isLineOpen = false
      progress(event)
    }
    try {
      const { target, overrides, prompt } = turn
      const { chat_id, stop_reason, tip } = await runTurn(place, {
        ...{ prompt, target, overrides, demo: this.demo, maxSteps: null, emit, signal: cancel.signal },
        approve: async (request) => ({ approved: await this.#ask(request, turn.keyboard) }),
      })
      if (stop_reason === 'cancelled') print.note('cancelled')
      return { type: 'branch', branch: chat_id, ...(tip === null ? {} : { seen: tip }) }
    } catch (error) {
      // One failed turn is no reason to end the chat: say what happened and wait for the next line.
      this.report(error)
      return null
    } finally {
      stopListening()
      stopWatching()
    }
  }

  async #ask(request: ApprovalRequest, keyboard: Keyboard): Promise<boolean> {
    const { stderr, columns } = this.context
    return await askApproval(request, { keyboard, stderr, columns })
  }
}

/** What ends the chat, alone on its line. */
const leavingWords: ReadonlySet<string> = new Set(['/quit', '/exit', 'quit', 'exit'])

const chatHelp = `Say what the agent should do; pasted lines are one message.
  /help    this text
  /quit    end the chat, as Ctrl-D, \`exit\` and \`quit\` do
Ctrl-C in a turn cancels it. What you type meanwhile waits for the next prompt.
Other commands, such as \`cass log\` and \`cass branches\`, work in another terminal.`
