import { Option } from 'clipanion'
import type { TurnEvent } from '../sources/agent/events.ts'
import { CassError } from '../sources/errors.ts'
import type { Place } from '../sources/session/place.ts'
import { runTurn } from '../sources/session/runTurn.ts'
import { refuseTogether } from './options.ts'
import { type ApprovalRequest, askApproval } from './terminal/approval.ts'
import { makeColours } from './terminal/colours.ts'
import { makeLineReader } from './terminal/lineReader.ts'
import { makeProgress } from './terminal/progress.ts'
import { type Overrides, TurnCommand } from './turnCommand.ts'

type Target =
  | { readonly type: 'new' }
  | { readonly type: 'continue' }
  | { readonly type: 'branch'; readonly branch: string; readonly seen?: string }

/** `cass chat`, and `cass` alone: turn after turn, until the user leaves. */
export class ChatCommand extends TurnCommand {
  static override paths = [['chat']]

  static override usage = TurnCommand.Usage({
    category: 'Porcelain',
    description: 'talk to the agent, turn after turn',
    details: `
      Begins a new chat unless BRANCH, \`--continue\` or \`--resume\` names one; its files appear with the first message.
      A call that needs approval is asked about. Ctrl-C in a turn cancels the turn, at the prompt it ends the chat, as
      Ctrl-D and \`/quit\` do. \`cass\` alone is the same as \`cass chat\`.
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
    return await this.#loop(await this.preparePlace(), { target, overrides })
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
    const { print } = this.context
    const colours = await makeColours(this.context, 'stderr')
    const reader = makeLineReader(this.context)
    let { target } = start
    print.note(`cass in ${place.cwd}; /quit or Ctrl-D ends the chat`)
    for (;;) {
      const line = await reader.ask(colours.bold('> '))
      if (line === null || line.trim() === '/quit') break
      if (line.trim() === '') continue
      target = (await this.#takeTurn(place, { ...start, target, prompt: line, colours })) ?? target
    }
    if (target.type === 'branch' && !this.demo)
      print.data(`Resume this chat with: cass --resume ${target.branch}`)
    return 0
  }

  /** Gives where the next turn goes on, with the last message that was shown; null when the turn did not come to a branch. */
  async #takeTurn(
    place: Place,
    turn: {
      readonly target: Target
      readonly overrides: Overrides
      readonly prompt: string
      readonly colours: Parameters<typeof makeProgress>[1]
    },
  ): Promise<Target | null> {
    const { print, interrupts } = this.context
    const progress = makeProgress(print, turn.colours)
    const cancel = new AbortController()
    const stopListening = interrupts.listen(() => cancel.abort())
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
        approve: async (request) => ({ approved: await this.#ask(request, cancel) }),
      })
      if (stop_reason === 'cancelled') print.note('cancelled')
      return { type: 'branch', branch: chat_id, ...(tip === null ? {} : { seen: tip }) }
    } catch (error) {
      // One failed turn is no reason to end the chat: say what happened and wait for the next line.
      this.report(error)
      return null
    } finally {
      stopListening()
    }
  }

  async #ask(request: ApprovalRequest, cancel: AbortController): Promise<boolean> {
    const { stdin, stderr } = this.context
    return await askApproval(request, { stdin, stderr, onInterrupt: () => cancel.abort() })
  }
}
