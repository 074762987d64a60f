import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkConversation } from '../../../sources/conversation/checkLog.ts'
import { Conversation } from '../../../sources/conversation/conversation.ts'
import { logPath, transcriptPath } from '../../../sources/conversation/paths.ts'
import { CHAT, Client, makeRoot, newId, textStep, textsOf } from './_store.ts'

describe('a check', () => {
  it('names holes, gaps, damaged texts, torn ends, open turns and foreign transcripts', async () => {
    const root = makeRoot()
    const client = await Client.begin(root)
    await client.say(['zero', 'one', 'two', 'three'])
    await client.save([{ type: 'begin', turn: newId() }, textStep(newId(), 'four')])
    expect(checkConversation(root, CHAT).findings.map(({ code }) => code)).toEqual(['turn_open'])
    const lines = readFileSync(logPath(root, CHAT), 'utf8').split('\n')
    lines[3] = 'garbage'
    lines[4] = lines[4]?.replace('"content":"two"', '"content":"two""') ?? ''
    writeFileSync(logPath(root, CHAT), `${lines.join('\n')}{"torn`)
    writeFileSync(transcriptPath(root, CHAT), 'not ours')
    const { findings, messages } = checkConversation(root, CHAT)
    expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
      ['log_hole', 'damage'],
      ['log_gap', 'damage'],
      ['message_damaged', 'damage'],
      ['log_torn', 'note'],
      ['turn_open', 'note'],
      ['transcript_foreign', 'note'],
    ])
    expect(messages).toBe(4)
    expect(textsOf(Conversation.open(root, CHAT), 'main')).toEqual([
      ...['zero', '[this message is damaged in the log]', 'three', 'four'],
    ])
  })
})
