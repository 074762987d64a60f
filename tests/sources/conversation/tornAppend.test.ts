import { describe, expect, it } from 'vitest'
import { isTornAppend } from '../../../sources/conversation/tornAppend.ts'

const line = (fields: object) => JSON.stringify({ schema_version: 2, ...fields })
const message = (id: string, writer: string, content = 'text with "quotes" and }') =>
  line({ type: 'message', id, head: 'main', writer, turn: 't1', msgs: [{ role: 'user', content }] })
const begin = (writer: string, turn = 't1') => line({ type: 'turn_begin', head: 'main', writer, turn })

const cut = (text: string, by: number) => text.slice(0, text.length - by)
const judge = (text: string, next: string, known: string[] = []) =>
  isTornAppend(text, { next, hasMessage: (id) => known.includes(id) })

describe('a line that is no entry', () => {
  it.each([
    ['its message is in the log', cut(message('m1', 'w1'), 5), message('m9', 'w1'), ['m1']],
    ['another writer went on', cut(message('m1', 'w1'), 5), begin('w2', 't2'), []],
    ['the same entry was tried again', cut(message('m1', 'w1'), 30), cut(message('m1', 'w1'), 9), []],
    ['its batch was tried again', cut(message('m1', 'w1'), 30), begin('w1'), []],
    ['a mark was written again', cut(begin('w1'), 3), begin('w1'), []],
    ['it was cut before its names', '{"schema_version":2,"type":"mess', begin('w1'), []],
  ])('is a torn append when %s', (_, text, next, known) => {
    expect(judge(text, next, known)).toBe(true)
  })

  it.each([
    ['its writer went on with another entry', cut(message('m1', 'w1'), 5), message('m2', 'w1')],
    ['nothing stands behind it', cut(message('m1', 'w1'), 5), ''],
    ['it is whole and damaged inside', message('m1', 'w1').replace('"head"', 'head'), begin('w2')],
    ['it is something else', 'hello', begin('w2')],
  ])('is damage when %s', (_, text, next) => {
    expect(judge(text, next)).toBe(false)
  })
})
