import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { readTranscriptMeta } from '../../../sources/conversation/library.ts'
import { asOwnChat } from '../../../sources/conversation/ownChat.ts'
import { conversationsFolder, transcriptPath } from '../../../sources/conversation/paths.ts'
import { metaOf } from '../../../sources/conversation/transcript.ts'
import { makeFamily } from './_family.ts'
import { meta, OLD, oldRecords, oldText, rootWithChat } from './_oldChats.ts'
import { CHAT, Client, newId, textStep } from './_store.ts'

const COPY = '2026-06-25-101533-copy'
const conversation = Conversation.begin('/nonexistent', CHAT, { created_at: 'now', model: 'm', cwd: '/w' })

/** The first line of the copy of a file that begins so. */
function firstLineOf(line: string): string {
  const copy = asOwnChat(Buffer.from(`${line}\nrest`), {
    copyId: COPY,
    parent: CHAT,
    conversation,
  }).toString()
  expect(copy.endsWith('\nrest')).toBe(true)
  return copy.slice(0, -'\nrest'.length)
}

const ours = `{"type":"meta","chat_id":"${CHAT}","created_at":"then","model":"m","cwd":"/w"`

describe('the first line of a chat that was rescued', () => {
  it.each([
    ['as we write it', `,"conversation":"${CHAT}","head":"main"}`, '}'],
    ['with a key of somebody else', `,"conversation":"${CHAT}","note":"x","head":"main"}`, ',"note":"x"}'],
    [
      'with blanks',
      ` , "note" : [ 1.50, {"a,b":"}"} ] , "head":"main" }\r`,
      ' , "note" : [ 1.50, {"a,b":"}"} ] }\r',
    ],
    ['with null', ',"parent_chat_id":null,"head":null}', null],
    ['with another parent', ',"parent_chat_id":"theirs"}', null],
  ])('keeps all but what ties it to the log: %s', (_, tail, kept) => {
    const line = firstLineOf(ours + tail)
    if (kept !== null) {
      expect(line).toBe(`${ours.replace(CHAT, COPY)},"parent_chat_id":"${CHAT}"${kept}`)
    }
    const was = tail.includes('theirs') ? { was: { parent_chat_id: 'theirs' } } : {}
    const { conversation: _c, head: _h, ...rest } = JSON.parse(ours + tail)
    expect(JSON.parse(line)).toEqual({ ...rest, chat_id: COPY, parent_chat_id: CHAT, ...was })
  })

  it('takes out keys wherever they stand', () => {
    const line = `{ "head":"main","conversation":"${CHAT}", "type":"meta","created_at":"then","model":"m","cwd":"/w","chat_id":"${CHAT}"}`
    expect(firstLineOf(line)).toBe(
      `{ "type":"meta","created_at":"then","model":"m","cwd":"/w","parent_chat_id":"${CHAT}","chat_id":"${COPY}"}`,
    )
  })

  it('keeps what it replaces and is not ours below one key, again and again', () => {
    const line = `${ours.replace(CHAT, 'their-chat')},"was":{"chat_id":"first"},"conversation":"c\\u0041","head":"h"}`
    expect(JSON.parse(firstLineOf(line)).was).toEqual({
      ...{ chat_id: 'their-chat', conversation: 'cA', head: 'h', was: { chat_id: 'first' } },
    })
    expect(firstLineOf(line)).toContain('"c\\u0041"')
  })

  it.each([
    ['no JSON', '{"type":"meta", note'],
    ['another record', '{"type":"system","content":"x"}'],
    ['a key of its own missing', '{"type":"meta","chat_id":"x","note":"y"}'],
    ['one key twice', `${ours},"note":"first","note":"second"}`],
    ['a byte order mark', `\ufeff${ours}}`],
  ])('is one that was made for it when there was none to keep: %s', (_, line) => {
    const [made = '', ...kept] = firstLineOf(line).split('\n')
    expect(kept).toEqual([line])
    expect(JSON.parse(made)).toEqual({
      ...{ type: 'meta', chat_id: COPY, created_at: 'now', model: 'm', cwd: '/w', parent_chat_id: CHAT },
    })
  })

  it('is kept as bytes when it is no text', () => {
    const bytes = Buffer.concat([Buffer.from(ours), Buffer.from(',"note":"\xff"}\n', 'latin1')])
    const copy = asOwnChat(bytes, { copyId: COPY, parent: CHAT, conversation })
    expect(copy.subarray(copy.indexOf(0x0a) + 1).equals(bytes)).toBe(true)
  })
})

describe('what a hand wrote into a transcript', () => {
  it('is in a chat after the next save when it was written into the first line', async () => {
    const { root, client } = await makeFamily()
    const file = transcriptPath(root, CHAT)
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"type":"meta",', '"type":"meta","note":"BY HAND",'),
    )
    const { rescued } = await client.save([textStep(newId(), 'after')])
    expect(readFileSync(transcriptPath(root, rescued[0]?.copy ?? ''), 'utf8')).toContain('"note":"BY HAND"')
  })

  it('is in a chat when an old chat with a bad line is gone on with', async () => {
    const records = [{ ...meta, xtra: 'XMETA', parent_chat_id: 'their-parent' }, ...oldRecords.slice(1)]
    const root = rootWithChat(`${oldText(records)}no record\n`)
    const client = await Client.open(root, 'main', OLD)
    const { rescued } = await client.save([textStep(newId(), 'after')])
    const first = JSON.parse(
      readFileSync(transcriptPath(root, rescued[0]?.copy ?? ''), 'utf8').split('\n', 1)[0] ?? '',
    )
    expect(first).toMatchObject({
      xtra: 'XMETA',
      parent_chat_id: OLD,
      was: { parent_chat_id: 'their-parent' },
    })
  })

  // Pieces that tell where a JSON text is cut, doubled or escaped.
  const piece = fc.oneof(
    fc.constantFrom(
      '"',
      ',',
      '{',
      '}',
      ':',
      '\\',
      '\n',
      '","note":"',
      '","chat_id":"',
      '\\u0041',
      '12345678901234567890',
    ),
    fc.string({ unit: fc.constantFrom(...'abcdefgh0123'), minLength: 8, maxLength: 16 }),
  )

  it('is in a file after the next save, every run of eight and more characters, wherever it was put', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ at: fc.nat(), cut: fc.nat({ max: 20 }), put: fc.array(piece, { maxLength: 3 }) }),
          {
            minLength: 1,
            maxLength: 3,
          },
        ),
        fc.boolean(),
        async (edits, isInFirstLine) => {
          const { root, client } = await makeFamily()
          const file = transcriptPath(root, CHAT)
          let text = readFileSync(file, 'utf8')
          for (const { at, cut, put } of edits) {
            const place = at % (isInFirstLine ? text.indexOf('\n') : text.length)
            text = text.slice(0, place) + put.join('') + text.slice(place + cut)
          }
          writeFileSync(file, text)
          await client.save([textStep(newId(), 'after')])
          const folder = conversationsFolder(root)
          const chats = readdirSync(folder).filter((name) => /^[^.]+\.jsonl$/.test(name))
          const kept = chats.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('\n')
          const runs = text.match(/[a-zA-Z0-9]{8,}/g) ?? []
          expect(runs.filter((run) => !kept.includes(run))).toEqual([])
        },
      ),
      { numRuns: 60 },
    )
  })

  it('leaves a copy that is a chat, whatever its first line was', async () => {
    const { root, client, heads } = await makeFamily()
    const branch = heads[2] ?? ''
    const line = JSON.stringify({ extra: [], ...metaOf(client.conversation, branch) })
    const options = { copyId: COPY, parent: branch, conversation: client.conversation }
    writeFileSync(transcriptPath(root, COPY), asOwnChat(Buffer.from(line), options))
    expect(readTranscriptMeta(root, COPY)).toMatchObject({ chat_id: COPY, parent_chat_id: branch })
    expect(readTranscriptMeta(root, COPY)).not.toHaveProperty('conversation')
  })
})
