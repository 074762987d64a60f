import { CassError } from '../errors.ts'
import { type LogEntry, type LogMeta, tryParseEntry } from './entry.ts'
import { chainTo, type Graph, type Head, type Node } from './graph.ts'
import { LogFile, statOrNull } from './logFile.ts'
import type { ChainItem, Message } from './message.ts'
import type { OldChat } from './oldChat.ts'
import { graphOfOldChat, metaOfOldChat, readOldChat } from './oldChatFile.ts'
import { outlineMessage } from './outline.ts'
import { isUsableChatId, logPath } from './paths.ts'

const itemsAtATime = 500

/** How much of each message is read: `outline` cuts long texts, enough for lists. */
export type Detail = 'whole' | 'outline'

/**
 * One conversation: its log as far as it was read, or an old chat that has no log yet, or a new one that has nothing
 * on disk. It reads; `saveConversation` writes.
 */
export class Conversation {
  readonly root: string
  readonly id: string
  readonly log: LogFile
  /**
   * What was written and could not be synced: the log seems to hold it, and the disk may have lost it. The next save writes it
   * once more.
   */
  readonly unsynced = new Set<LogEntry>()
  /** Heads whose transcripts have no leftovers of killed processes, as far as this process has looked. */
  readonly searched = new Set<string>()
  /** Set as long as the conversation exists only as a chat file of another program. */
  oldChat: OldChat | null
  #newMeta: LogMeta | null
  #oldGraph: Graph | null

  private constructor(
    root: string,
    id: string,
    { oldChat, newMeta }: { oldChat: OldChat | null; newMeta: LogMeta | null },
  ) {
    this.root = root
    this.id = id
    this.log = new LogFile(logPath(root, id))
    this.oldChat = oldChat
    this.#newMeta = newMeta
    this.#oldGraph = oldChat === null ? null : graphOfOldChat(oldChat)
  }

  /** A conversation that begins: nothing is written until its first message is saved. */
  static begin(root: string, id: string, meta: LogMeta): Conversation {
    return new Conversation(root, id, { oldChat: null, newMeta: meta })
  }

  /**
   * Reads a conversation by its id. Throws `conversation_not_found`, `conversation_empty` (a log without a line), or
   * what reading a log throws.
   */
  static open(root: string, id: string): Conversation {
    if (!isUsableChatId(id))
      throw new CassError('bad_id', `'${id}' cannot be the id of a conversation`, { kind: 'usage' })
    const conversation = new Conversation(root, id, { oldChat: null, newMeta: null })
    conversation.log.refresh()
    if (statOrNull(conversation.log.path) === null) {
      return new Conversation(root, id, { oldChat: readOldChat(root, id), newMeta: null })
    }
    if (conversation.graph.heads.size === 0) {
      throw new CassError('conversation_empty', `the log of conversation '${id}' holds no message`, {
        hint: `look at '${conversation.log.path}'; it can be removed when it is not needed`,
      })
    }
    return conversation
  }

  get graph(): Graph {
    return this.#oldGraph ?? this.log.graph
  }

  /** Set until a conversation that begins has its log. */
  get newMeta(): LogMeta | null {
    return this.#newMeta
  }

  /** Says that the log is there now. */
  begun(): void {
    this.#newMeta = null
  }

  get meta(): LogMeta {
    const old = this.oldChat === null ? null : metaOfOldChat(this.oldChat)
    const meta = this.#newMeta ?? old ?? this.graph.meta
    // Logs of other programs say nothing about these.
    return meta ?? { created_at: this.graph.createdAt ?? '', model: '', cwd: '' }
  }

  /** Reads what was appended since; an old chat whose log was made meanwhile is read from its log from now on. */
  refresh(): void {
    this.log.refresh()
    if (this.#oldGraph !== null && this.log.graph.heads.size > 0) {
      this.#oldGraph = null
      this.oldChat = null
    }
  }

  /** The head of that id. Throws `branch_not_found`. */
  head(id: string): Head {
    const head = this.graph.heads.get(id)
    if (head === undefined)
      throw new CassError('branch_not_found', `conversation '${this.id}' has no branch '${id}'`)
    return head
  }

  chatIdOf(head: string): string {
    return head === 'main' ? this.id : head
  }

  headOf(chatId: string): string {
    return chatId === this.id ? 'main' : chatId
  }

  /** The path of a head from its root, oldest first. */
  chain(head: string): Node[] {
    return this.chainFrom(head, 0)
  }

  /** The end of a head's path, from a record index on. Costs what it gives. */
  chainFrom(head: string, recordIndex: number): Node[] {
    return chainTo(this.graph, this.head(head).leaf, recordIndex)
  }

  /** Messages of consecutive or scattered nodes, in the given order; `head` says whose system text counts. */
  items(nodes: ReadonlyArray<Node>, detail: Detail, head: string): ChainItem[] {
    const messages = this.#messages(nodes, detail)
    const system = this.head(head).system
    return nodes.map((node, position) => {
      const message = messages[position] ?? damagedMessage(node)
      const isSystem = node.depth === 0 && node.role === 'system'
      return itemOfNode(node, isSystem && system !== null ? system : message)
    })
  }

  /** The same, for long branches: only some of the messages are in memory at a time. */
  *itemsOneByOne(nodes: ReadonlyArray<Node>, detail: Detail, head: string): Generator<ChainItem> {
    for (let at = 0; at < nodes.length; at += itemsAtATime) {
      yield* this.items(nodes.slice(at, at + itemsAtATime), detail, head)
    }
  }

  /** How many records the transcript of a head has. */
  recordCount(head: string): number {
    const { leaf } = this.head(head)
    const node = leaf === null ? undefined : this.graph.nodes.get(leaf)
    return node === undefined ? 2 : node.index + 1
  }

  #messages(nodes: ReadonlyArray<Node>, detail: Detail): Array<Message | undefined> {
    const found = new Map<Node, Message>()
    if (this.oldChat !== null) {
      for (const node of nodes) {
        const message = this.oldChat.messages[node.depth]?.message
        if (message !== undefined) found.set(node, message)
      }
    } else {
      this.log.readLines(nodes, (node, line) => {
        const message = detail === 'outline' ? outlineMessage(line) : wholeMessage(line)
        if (message !== null) found.set(node, message)
        return message !== null
      })
    }
    const { patches, redactions } = this.graph
    return nodes.map((node) => redactions.get(node.id) ?? patches.get(node.id) ?? found.get(node))
  }
}

/** A node's place on its branch, with a message. */
export function itemOfNode(node: Node, message: Message): ChainItem {
  const { id, index, head, parent, turn, fs, ws, gap } = node
  return { id, index, head, parent, turn, fs, ws, gap, message }
}

function wholeMessage(line: Buffer): Message | null {
  const entry = tryParseEntry(line.toString('utf8'))
  return entry?.type === 'message' ? entry.msgs[0] : null
}

/** Stands where a line's header is whole and its body is not, so that the indices behind it stay. */
function damagedMessage(node: Node): Message {
  return {
    role: node.role,
    content: '[this message is damaged in the log]',
    notice: 'interrupted',
    ts: node.at,
  }
}
