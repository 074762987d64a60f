import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupMessages } from '../../../sources/conversation/groups.ts'
import type { Message } from '../../../sources/conversation/message.ts'
import { buildRequest } from '../../../sources/conversation/request.ts'
import { anyMessages, assistant, call, notice, result, TS, user } from './_messages.ts'
import { objectionTo } from './_strict.ts'

const build = (...messages: Message[]) => buildRequest('rules', messages).slice(1)
const note = (text: string) => `[note from cass, not from the user: ${text}]`

describe('building a request', () => {
  it('satisfies a strict provider for any list of messages', () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        expect(objectionTo(buildRequest('rules', messages))).toBeNull()
      }),
      { numRuns: 2000 },
    )
  })

  it('satisfies a strict provider when any groups are left out', () => {
    fc.assert(
      fc.property(anyMessages, fc.infiniteStream(fc.boolean()), (messages, keep) => {
        const kept = groupMessages(messages).filter(() => keep.next().value === true)
        expect(
          objectionTo(
            buildRequest(
              'rules',
              kept.flatMap((group) => group.messages),
            ),
          ),
        ).toBeNull()
      }),
    )
  })

  it('groups grouped messages into the same groups', () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const groups = groupMessages(messages)
        expect(groupMessages(groups.flatMap((group) => group.messages))).toEqual(groups)
      }),
    )
  })

  it('puts the given system text first and drops those of the chain', () => {
    const messages: Message[] = [{ role: 'system', content: 'old', ts: TS }, user('hello')]
    expect(buildRequest('new', messages)).toEqual([
      { role: 'system', content: 'new' },
      { role: 'user', content: 'hello' },
    ])
  })

  it('answers each call once, in call order, and leaves strays out', () => {
    const messages = [
      user('go'),
      assistant('', call('a'), call('b')),
      result('x'),
      result('b', 'B'),
      result('a', 'A'),
    ]
    expect(build(...messages, result('a', 'again'))).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', name: 'read', arguments: '{}' },
          { id: 'b', name: 'read', arguments: '{}' },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
    ])
  })

  it('finds results behind a system message that stands between them and their call', () => {
    const system: Message = { role: 'system', content: 'changed', ts: TS }
    expect(build(user('go'), assistant('', call('a')), system, result('a', 'A')).at(-1)).toEqual({
      role: 'tool',
      tool_call_id: 'a',
      content: 'A',
    })
  })

  it('gives a call without a result one that says so', () => {
    const last = build(user('go'), assistant('', call('a'))).at(-1)
    expect(last).toEqual({
      role: 'tool',
      tool_call_id: 'a',
      content: note('No result of this call was recorded. It may have run in part.'),
    })
  })

  it('gives repeated and empty call ids fresh ones and maps their results in order', () => {
    const calls = [call('a'), call('a'), call('a_2'), call('')]
    const results = [result('a', '1'), result('', '4'), result('a', '2'), result('a_2', '3')]
    const request = build(user('go'), assistant('', ...calls), ...results)
    expect(
      request.slice(2).map((message) => message.role === 'tool' && [message.tool_call_id, message.content]),
    ).toEqual([
      ['a', '1'],
      ['a_3', '2'],
      ['a_2', '3'],
      ['call_3', '4'],
    ])
  })

  it.each([
    ['', '{}'],
    [' \n', '{}'],
    ['{"n":12345678901234567890}', '{"n":12345678901234567890}'],
    ['{"a":', '{"_raw":"{\\"a\\":"}'],
    ['[1]', '{"_raw":"[1]"}'],
    ['"x"', '{"_raw":"\\"x\\""}'],
    ['{"a":"\\ud800"}', '{"a":"\ufffd"}'],
    ['{"_raw":"kept"}', '{"_raw":"kept"}'],
  ])('sends the arguments %j as %j', (text, sent) => {
    const [, message] = build(user('go'), assistant('', call('a', text)), result('a'))
    expect(message?.role === 'assistant' && message.tool_calls?.[0]?.arguments).toBe(sent)
  })

  it('joins neighbouring user messages and leaves silent assistant messages out', () => {
    expect(build(user('one'), assistant(''), user('two'))).toEqual([{ role: 'user', content: 'one\n\ntwo' }])
  })

  it('puts an assistant note between tool results and a user message', () => {
    expect(build(user('go'), assistant('', call('a')), result('a'), user('next')).slice(-2)).toEqual([
      { role: 'assistant', content: '(No answer was given to these results.)' },
      { role: 'user', content: 'next' },
    ])
  })

  it('gives notices to the model as the words of the program, never as its own', () => {
    expect(build(user('go'), notice('cancelled', 'Turn cancelled by user.'), user('next'))).toEqual([
      { role: 'user', content: `go\n\n${note('Turn cancelled by user.')}\n\nnext` },
    ])
  })

  it('does not replay the text of a provider error', () => {
    const request = build(user('go'), notice('provider_error', 'secret body'), user('next'))
    expect(JSON.stringify(request)).not.toContain('secret')
    expect(JSON.stringify(request)).toContain('the provider failed here')
  })

  it('asks to go on when the list ends with the words of the model', () => {
    expect(build(user('go'), assistant('half')).at(-1)).toEqual({ role: 'user', content: note('go on') })
    expect(build()).toEqual([{ role: 'user', content: note('go on') }])
  })

  it('echoes reasoning under the name it came with, and under the usual one for a name it does not know', () => {
    const thought = { ...assistant('answer'), reasoning_content: 'because' }
    const fieldOf = (message: Message) => {
      const [, sent] = build(user('go'), message, user('next'))
      return sent?.role === 'assistant' ? sent.reasoning : null
    }
    expect(fieldOf({ ...thought, reasoning_field: 'thinking' })).toEqual({
      field: 'thinking',
      text: 'because',
    })
    expect(fieldOf({ ...thought, reasoning_field: 'role' })).toEqual({
      field: 'reasoning_content',
      text: 'because',
    })
    expect(fieldOf({ ...thought, reasoning_content: ' \n' })).toBeUndefined()
  })
})
