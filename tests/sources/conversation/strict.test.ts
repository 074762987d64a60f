import { expect, it } from 'vitest'
import type { RequestMessage } from '../../../sources/conversation/request.ts'
import { objectionTo } from './_strict.ts'

const system: RequestMessage = { role: 'system', content: 'rules' }
const asked: RequestMessage = { role: 'user', content: 'go' }
const answer = (id: string): RequestMessage => ({ role: 'tool', tool_call_id: id, content: 'done' })
const calling = (...calls: ReadonlyArray<[id: string, args: string]>): RequestMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, args]) => ({ id, name: 'read', arguments: args })),
})

it.each<[string, RequestMessage[]]>([
  ['no system message', [asked]],
  ['a second system message', [system, asked, system]],
  ['an assistant first', [system, calling(['a', '{}']), answer('a')]],
  ['two user messages', [system, asked, asked]],
  ['an unanswered call', [system, asked, calling(['a', '{}'])]],
  ['answers out of order', [system, asked, calling(['a', '{}'], ['b', '{}']), answer('b'), answer('a')]],
  ['a stray answer', [system, asked, answer('a')]],
  ['a repeated id', [system, asked, calling(['a', '{}'], ['a', '{}']), answer('a'), answer('a')]],
  ['arguments that are no object', [system, asked, calling(['a', '[]']), answer('a')]],
  ['a lone surrogate', [system, { role: 'user', content: 'a\ud800' }]],
  ['a lone surrogate in arguments', [system, asked, calling(['a', '{"x":"\\ud800"}']), answer('a')]],
  ['a blank message', [system, { role: 'user', content: ' ' }]],
  ['the model last', [system, asked, { role: 'assistant', content: 'done' }]],
])('the strict provider objects to %s', (_, request) => {
  expect(objectionTo(request)).not.toBeNull()
})

it('the strict provider accepts a careful request', () => {
  expect(objectionTo([system, asked, calling(['a', '{"x":"\\\\ud800"}']), answer('a')])).toBeNull()
})
