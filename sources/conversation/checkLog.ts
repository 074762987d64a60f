import { closeSync, constants, readSync } from 'node:fs'
import { CassError } from '../errors.ts'
import { openRegular } from '../files/openRegular.ts'
import { Conversation } from './conversation.ts'
import { tryParseEntry } from './entry.ts'
import { whyIndexIsUnreadable } from './headsIndex.ts'
import { tryDecodeLine } from './json.ts'
import { transcriptLeftovers } from './leftovers.ts'
import { isWithoutMessages, readTranscriptMeta } from './library.ts'
import { statOrNull } from './logFile.ts'
import { indexPath, isUsableChatId, logPath, transcriptPath } from './paths.ts'
import { isTornAppend } from './tornAppend.ts'

/** What a check of stored data found. A note is nothing lost. */
export interface LogFinding {
  readonly severity: 'note' | 'damage'
  readonly code: string
  readonly subject: string
  readonly message: string
  /** What it means for the user. */
  readonly effect: string
}

/** Reads a conversation whole, every body too, and tells what cannot be read. Changes nothing. */
export function checkConversation(
  root: string,
  id: string,
): { readonly findings: LogFinding[]; readonly messages: number } {
  let conversation: Conversation
  try {
    conversation = Conversation.open(root, id)
  } catch (error) {
    if (!(error instanceof CassError)) throw error
    const { message } = error
    const finding = isWithoutMessages(root, id, error)
      ? note('chat_without_messages', id, message, 'its file stays as it is; lists leave it out')
      : damage('conversation_unreadable', id, message, 'none of its messages can be shown')
    return { findings: [finding], messages: 0 }
  }
  const { graph, oldChat } = conversation
  if (oldChat !== null) {
    const findings = oldChat.problems.map(({ line, reason }) =>
      damage('chat_bad_line', id, `line ${line}: ${reason}`, 'this line is skipped, the rest is kept'),
    )
    return { findings, messages: graph.nodes.size }
  }
  const findings = [
    ...holesOf(conversation),
    ...[...graph.gaps].map((message) =>
      damage(
        'log_gap',
        id,
        `the message before '${message}' is missing`,
        'the branch goes on behind the last message before it',
      ),
    ),
    ...damagedBodies(conversation),
    ...notes(conversation),
  ]
  return { findings, messages: graph.nodes.size }
}

/** How much of the line behind a hole is looked at: its header. */
const headerSize = 1024

function holesOf({ id, root, graph }: Conversation): LogFinding[] {
  if (graph.holes.length === 0) return []
  const fd = openRegular(logPath(root, id), constants.O_RDONLY)
  try {
    return graph.holes.map(({ offset, length }) => {
      const bytes = Buffer.alloc(length + 1 + headerSize)
      const read = readSync(fd, bytes, 0, bytes.length, offset)
      const line = tryDecodeLine(bytes.subarray(0, length))
      const next = bytes.toString('utf8', length + 1, read).split('\n', 1)[0] ?? ''
      const hasMessage = (message: string) => graph.nodes.has(message)
      const where = `${length} bytes at ${offset} are no entry`
      if (line !== null && isTornAppend(line, { next, hasMessage })) {
        const effect = 'an append was cut there; what was acknowledged is not among them'
        return note('log_torn_append', id, where, effect)
      }
      return damage('log_hole', id, where, 'they are passed over; what they said is lost')
    })
  } finally {
    closeSync(fd)
  }
}

function damagedBodies(conversation: Conversation): LogFinding[] {
  const { graph, log, id } = conversation
  const readable = new Set<string>()
  log.readLines([...graph.nodes.values()], (node, line) => {
    const isWhole = tryParseEntry(line.toString('utf8')) !== null
    if (isWhole) readable.add(node.id)
    return isWhole
  })
  return [...graph.nodes.keys()]
    .filter((message) => !readable.has(message))
    .map((message) =>
      damage(
        'message_damaged',
        id,
        `the text of message '${message}' is damaged`,
        'only this message is lost',
      ),
    )
}

function notes(conversation: Conversation): LogFinding[] {
  const { root, id, graph, log } = conversation
  const findings: LogFinding[] = []
  const size = statOrNull(logPath(root, id))?.size ?? 0
  if (log.position < size) {
    findings.push(
      note(
        'log_torn',
        id,
        `the last ${size - log.position} bytes are no whole line`,
        'what was acknowledged is not among them',
      ),
    )
  }
  const indexProblem = whyIndexIsUnreadable(root, id)
  if (indexProblem !== null) {
    findings.push(
      note(
        'index_unreadable',
        id,
        `cannot read '${indexPath(root, id)}': ${indexProblem}`,
        'nothing is lost: lists read the log instead, which is slower; the next save makes it again unless something else has its name',
      ),
    )
  }
  for (const { turn, head } of graph.openTurns.values()) {
    findings.push(
      note(
        'turn_open',
        conversation.chatIdOf(head),
        `the turn '${turn}' has not ended`,
        'it runs, or the next turn on this branch completes it',
      ),
    )
  }
  for (const head of graph.heads.values()) {
    const chatId = conversation.chatIdOf(head.id)
    if (!isUsableChatId(chatId)) {
      findings.push(
        note(
          'head_unusable',
          id,
          `the branch '${chatId}' has an id that can name no file`,
          'its messages are in the log; it gets no transcript',
        ),
      )
      continue
    }
    const meta = readTranscriptMeta(root, chatId)
    if (meta === null && statOrNull(transcriptPath(root, chatId)) !== null) {
      findings.push(
        note(
          'transcript_foreign',
          chatId,
          'its transcript does not begin as one',
          'the next save keeps it as a chat of its own',
        ),
      )
    }
  }
  const chatIds = new Set([...graph.heads.keys()].map((head) => conversation.chatIdOf(head)))
  for (const { chatId, file } of transcriptLeftovers(root, chatIds)) {
    findings.push(
      note(
        'transcript_leftover',
        chatId,
        `'${file}' is what a process left that was killed`,
        'the next process that saves on this branch removes it, and first keeps what another program wrote as a chat of its own',
      ),
    )
  }
  return findings
}

function damage(code: string, subject: string, message: string, effect: string): LogFinding {
  return { severity: 'damage', code, subject, message, effect }
}

function note(code: string, subject: string, message: string, effect: string): LogFinding {
  return { severity: 'note', code, subject, message, effect }
}
