import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import {
  conversationsFolder,
  indexPath,
  logPath,
  saveLockPath,
  transcriptPath,
} from '../../../sources/conversation/paths.ts'
import { saveConversation } from '../../../sources/conversation/save.ts'
import { tryLock } from '../../../sources/files/lockFile.ts'
import { assistant, call, result } from './_messages.ts'
import {
  CHAT,
  Client,
  failing,
  linesOf,
  makeRoot,
  newId,
  now,
  takeWriter,
  textStep,
  textsOf,
} from './_store.ts'

function statsOf(root: string) {
  return readdirSync(conversationsFolder(root)).map((name) => {
    const file = `${conversationsFolder(root)}/${name}`
    const { mtimeNs, size, ino } = statSync(file, { bigint: true })
    return { name, mtimeNs, size, ino, bytes: readFileSync(file, 'latin1') }
  })
}

describe('saving', () => {
  it('writes log, writer and one line a message for a new chat, then only what is new', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one', 'two', 'three'])
    expect(linesOf(root).map(({ type }) => type)).toEqual(['log', 'writer', 'message', 'message', 'message'])
    expect(linesOf(root)[0]).toMatchObject({ generation: 1, writer: client.writer.id })
    const before = readFileSync(logPath(root, CHAT))
    await client.say(['four'])
    const after = readFileSync(logPath(root, CHAT))
    expect(after.subarray(0, before.length).equals(before)).toBe(true)
    expect(
      linesOf(root)
        .slice(5)
        .map(({ type }) => type),
    ).toEqual(['message'])
  })

  it('writes nothing when there is nothing new', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    const steps = [textStep(newId(), 'one')]
    await client.save(steps)
    const before = statsOf(root)
    await client.save(steps)
    await client.save([])
    expect(statsOf(root)).toEqual(before)
  })

  it('puts the keys of the header first, in one order, and role and content first in the body', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    const turn = newId()
    const message = assistant('hello', call('c'))
    await client.save([
      { type: 'begin', turn },
      textStep(newId(), 'hi', turn),
      { type: 'message', id: newId(), turn, fs: 5, ws: 'w', message },
      { type: 'message', id: newId(), turn, fs: 5, ws: 'w', message: result('c') },
      { type: 'end', turn },
    ])
    const lines = readFileSync(logPath(root, CHAT), 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).type)).toEqual([
      ...['log', 'writer', 'turn_begin', 'message', 'message', 'message', 'turn_end'],
    ])
    const whole = lines[4] ?? ''
    expect(Object.keys(JSON.parse(whole))).toEqual([
      ...[
        'schema_version',
        'type',
        'id',
        'head',
        'writer',
        'turn',
        'at',
        'parent',
        'digest',
        'fs',
        'ws',
        'msgs',
      ],
    ])
    expect(whole).toContain('"msgs":[{"role":"assistant","content":"hello",')
    expect(lines.every((line) => line.startsWith('{"schema_version":2,"type":"'))).toBe(true)
  })

  it('keeps the folder and its files to their owner, and tightens a looser log', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one'])
    for (const file of [logPath(root, CHAT), transcriptPath(root, CHAT)]) chmodSync(file, 0o644)
    chmodSync(conversationsFolder(root), 0o755)
    await client.say(['two'])
    expect(statSync(conversationsFolder(root)).mode & 0o777).toBe(0o700)
    for (const file of [logPath(root, CHAT), transcriptPath(root, CHAT), indexPath(root, CHAT)])
      expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('chains a digest over the messages that any reader can compute again', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one', 'two'])
    await client.say(['three'])
    const other = await Client.begin(makeRoot())
    await other.say(['one'])
    await other.say(['two', 'three'])
    const digests = (store: string) => linesOf(store).flatMap(({ digest }) => digest ?? [])
    expect(digests(root)).toEqual(digests(other.root))
    expect(new Set(digests(root)).size).toBe(3)
  })

  it('starts a new line behind a torn one, which stays where it is', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one'])
    appendFileSync(logPath(root, CHAT), '{"schema_version":2,"type":"mess')
    await client.say(['two'])
    expect(readFileSync(logPath(root, CHAT), 'utf8')).toContain(
      '\n{"schema_version":2,"type":"mess\n{"schema',
    )
    const read = Conversation.open(root, CHAT)
    expect(textsOf(read, 'main')).toEqual(['one', 'two'])
    expect(read.graph.holes).toHaveLength(1)
  })

  it('refuses to go on with a log that vanished, and to begin a chat whose id is taken', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one'])
    await expect((await Client.begin(root)).say(['mine'])).rejects.toMatchObject({ code: 'chat_id_taken' })
    rmSync(logPath(root, CHAT))
    await expect(client.say(['two'])).rejects.toMatchObject({ code: 'conversation_gone' })
    writeFileSync(transcriptPath(root, CHAT), '{"type":"user","content":"of another program","ts":""}\n')
    await expect((await Client.begin(root)).say(['mine'])).rejects.toMatchObject({ code: 'chat_id_taken' })
    expect(readFileSync(transcriptPath(root, CHAT), 'utf8')).toContain('of another program')
  })

  it('never gives a chat id to a branch that a chat has', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one'])
    const taken = '2026-11-30-120000-aaaa'
    writeFileSync(transcriptPath(root, taken), 'something')
    const writer = await takeWriter(root)
    const at = now().toISOString()
    const plan = () => [
      {
        ...({ type: 'fork', head: 'main', writer: writer.id, at, new_head: taken, from: null } as const),
        ...({ kind: 'fork', name: null, checkpoint: null } as const),
      },
    ]
    const saving = saveConversation(client.conversation, { writer, now, plan })
    await expect(saving).rejects.toMatchObject({ code: 'chat_id_taken' })
    expect(readFileSync(transcriptPath(root, taken), 'utf8')).toBe('something')
    expect(linesOf(root).filter(({ type }) => type === 'fork')).toEqual([])
  })

  it('is done when the log has it, also when the derived files cannot be written', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one'])
    rmSync(transcriptPath(root, CHAT))
    mkdirSync(transcriptPath(root, CHAT))
    const { behind } = await client.save([textStep(newId(), 'two')])
    expect(behind).toMatch(/EISDIR/)
    expect(textsOf(Conversation.open(root, CHAT), 'main')).toEqual(['one', 'two'])
    rmdirSync(transcriptPath(root, CHAT))
    expect((await client.save([textStep(newId(), 'three')])).behind).toBeNull()
    expect(readFileSync(transcriptPath(root, CHAT), 'utf8').split('\n')).toHaveLength(2 + 3 + 1)
  })

  it('waits for the lock a bounded time, and then leaves everything as it was', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one'])
    const held = await tryLock(saveLockPath(root, CHAT), 'exclusive')
    const before = readFileSync(logPath(root, CHAT))
    await expect(client.say(['two'])).rejects.toMatchObject({ code: 'lock_held', kind: 'busy' })
    await held?.release()
    expect(readFileSync(logPath(root, CHAT)).equals(before)).toBe(true)
    await client.say(['two'])
    expect(textsOf(client.conversation, 'main')).toEqual(['one', 'two'])
  }, 30_000)

  it('writes again what an earlier save could not sync', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['one'])
    const lost = textStep(newId(), 'two')
    const sync = { type: 'sync' } as const
    await expect(client.save([lost], failing([sync, sync, sync]))).rejects.toMatchObject({
      code: 'save_failed',
    })
    await client.save([lost])
    // The last copy stands behind the last failed sync, so the disk has it.
    const copies = linesOf(root).filter(({ id }) => id === (lost.type === 'message' ? lost.id : ''))
    expect(copies).toHaveLength(4)
    expect(textsOf(Conversation.open(root, CHAT), 'main')).toEqual(['one', 'two'])
  })
})
