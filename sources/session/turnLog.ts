import { hostname } from 'node:os'
import { type AppendPlan, planAppend, type Standing, type Step } from '../conversation/appendPlan.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Graph } from '../conversation/graph.ts'
import type { Message } from '../conversation/message.ts'
import { saveConversation } from '../conversation/save.ts'
import { isWriterDead, type WriterLock } from '../conversation/writers.ts'
import { type JournalPlace, journalSize } from '../edits/journal.ts'
import { newChatId, type Place } from './place.ts'

/** Something that the user must hear: another process's messages, a transcript that was saved as a chat of its own. */
export interface TurnNotice {
  readonly code: string
  readonly text: string
  readonly chat_id: string | null
}

export interface TurnLogOptions {
  readonly place: Place
  readonly conversation: Conversation
  readonly writer: WriterLock
  readonly journal: JournalPlace
  readonly standing: Standing
  /** Called when something happened that the user must hear; must not throw. */
  readonly onNotice: (notice: TurnNotice) => void
}

/** A message that is to be saved; the turn's log adds where the files stand. */
export interface TurnMessage {
  readonly id: string
  readonly turn: string | null
  readonly message: Message
}

/** The branch that a turn writes to: follows it to a `concurrent` branch when another process added to it. */
export class TurnLog {
  readonly #options: TurnLogOptions
  readonly #known: Set<string>
  #standing: Standing
  #freshHead: string
  #toldBehind = false

  constructor(options: TurnLogOptions) {
    this.#options = options
    this.#standing = options.standing
    this.#freshHead = newChatId(options.place)
    this.#known = new Set(options.conversation.graph.heads.keys())
  }

  get head(): string {
    return this.#standing.head
  }

  get chatId(): string {
    return this.#options.conversation.chatIdOf(this.head)
  }

  /** Saves; what it was given is acknowledged when it resolves. `makeSteps` may be asked more than once. */
  async save(makeSteps: (graph: Graph, dead: ReadonlySet<string>) => ReadonlyArray<Step>): Promise<void> {
    const { place, conversation, writer } = this.#options
    const plans: AppendPlan[] = []
    const { rescued, behind } = await saveConversation(conversation, {
      writer,
      now: place.now,
      plan: async (graph) => {
        const deadWriters = await this.#deadWriters(graph)
        const plan = planAppend(graph, {
          standing: this.#standing,
          steps: makeSteps(graph, deadWriters),
          freshHead: this.#freshHead,
          writer: writer.id,
          at: place.now().toISOString(),
          deadWriters,
        })
        plans.push(plan)
        return plan.entries
      },
    })
    const last = plans.at(-1)
    if (last !== undefined) this.#standing = last.standing
    for (const { chat_id, copy } of rescued) this.#tellRescued(chat_id, copy)
    if (behind !== null) this.#tellBehind(behind)
    if (plans.some(({ concurrent }) => concurrent !== null)) this.#tellOwnBranch()
    this.#tellForeignBranches()
  }

  /** The step that saves a message, with the place of the journal as it is now. */
  step({ id, turn, message }: TurnMessage): Step {
    const { journal } = this.#options
    return { type: 'message', id, turn, fs: journalSize(journal), ws: journal.workspace.key, message }
  }

  async #deadWriters(graph: Graph): Promise<ReadonlySet<string>> {
    const dead = new Set<string>()
    for (const { writer } of graph.openTurns.values()) {
      if (writer === null || writer === this.#options.writer.id) continue
      if (await isWriterDead(this.#options.place.root, hostname(), writer)) dead.add(writer)
    }
    return dead
  }

  #tellOwnBranch(): void {
    this.#freshHead = newChatId(this.#options.place)
    this.#known.add(this.head)
    this.#options.onNotice({
      code: 'session_concurrent_writer',
      text: `another process added to this chat, so this turn goes on as the branch ${this.chatId}`,
      chat_id: this.chatId,
    })
  }

  /** Another process found our messages in its way, and went on beside them. */
  #tellForeignBranches(): void {
    const { conversation, onNotice } = this.#options
    for (const head of conversation.graph.heads.values()) {
      if (this.#known.has(head.id)) continue
      this.#known.add(head.id)
      if (head.kind !== 'concurrent' || head.parentHead !== this.head) continue
      const chat_id = conversation.chatIdOf(head.id)
      const text = `another process also added to this chat; its messages are on the branch ${chat_id}`
      onNotice({ code: 'session_concurrent_writer', text, chat_id })
    }
  }

  #tellBehind(reason: string): void {
    if (this.#toldBehind) return
    this.#toldBehind = true
    this.#options.onNotice({
      code: 'transcript_behind',
      text: `the chat is saved, but its transcript could not be brought up to date: ${reason}`,
      chat_id: this.chatId,
    })
  }

  #tellRescued(chatId: string, copy: string): void {
    this.#options.onNotice({
      code: 'transcript_kept',
      text: `the transcript of ${chatId} held text of another program; it is now the chat ${copy}`,
      chat_id: copy,
    })
  }
}
