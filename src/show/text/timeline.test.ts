/** What a person reads of a run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import type { JsonObject } from '#model'
import { summary } from '#show/cli'
import { timeline } from './timeline.ts'

const at = '2026-01-01T00:00:00.000Z'
const call = { call: '1', tool: 'fs:move', status: 'done', issuedAt: at, args: { to: 'a' }, value: 1, ms: 2 }
const run = { run: 'r', status: 'done', intent: 'tidy', startedAt: at, calls: [], traced: [], result: 1, ms: 3 }
const shown = (more: object) =>
  stripVTControlCharacters(timeline({ ...run, ...more } as unknown as JsonObject)).split('\n')

test('timeline() tells who answered the question about a call, and with which other arguments it was made', () => {
  const answered = {
    answer: 'approved',
    who: 'ada',
    from: 'cli',
    args: { to: 'b' },
    rule: { tool: 'fs:move', then: 'allow' },
  }
  const denied = { answer: 'denied', who: 'bob', from: 'http', reason: 'not today' }
  const lines = shown({
    calls: [
      { ...call, approvals: [{ answered }] },
      { ...call, approvals: [{ answered: denied }, { asked: { approval: 'q' } }] },
      { ...call, status: 'asking', approvals: [{ asked: { approval: 'q' } }] },
    ],
  })
  assert.equal(
    lines[2]!.trim(),
    'approved by ada (cli), with {"to":"b"}, and from then on: {"tool":"fs:move","then":"allow"}',
  )
  assert.deepEqual(
    lines.slice(4, 6).map((line) => line.trim()),
    ['denied by bob (http), because: not today', 'nobody answered'],
  )
  assert.match(lines[6]!, /→ …$/, 'there is no value yet')
  assert.equal(lines[7]!.trim(), 'waits for an answer: metier approve q')
})

test('timeline() keeps its columns, however long the lines between the calls are', () => {
  const long = { answer: 'denied', who: 'bob', from: 'http', reason: 'no '.repeat(20) }
  const calls = [{ ...call, args: { to: 'somewhere else' }, approvals: [{ answered: long }] }, call]
  const [first, , second] = shown({ calls, traced: [] }).slice(1)
  assert.equal(first!.indexOf('→'), second!.indexOf('→'), `${first}\n${second}`)
  assert.equal(second!.indexOf('{') - second!.indexOf('fs:move'), 'fs:move'.length + 2)
})

test('timeline() and summary() let nothing that others wrote move the terminal or turn the text around', () => {
  const evil = 'a\u001b]0;mine\u0007\u009b2J\u202eb'
  const answered = { answer: 'denied', who: evil, from: 'http', reason: evil }
  const calls = [{ ...call, tool: evil, task: evil, args: { [evil]: evil }, value: evil, approvals: [{ answered }] }]
  const text = timeline({ ...run, intent: evil, calls, mayCall: [{ tool: evil, lines: [] }] } as unknown as JsonObject)
  const error = { code: 'PROGRAM_ERROR', message: evil }
  const approvals = [{ tool: evil, args: { evil }, why: evil, command: 'c' }]
  const said = summary({ ...run, isolation: null, callCount: 1, error, approvals } as unknown as JsonObject)
  for (const each of [text, said]) assert.doesNotMatch(each, /\u001b\]|\u0007|\u009b|\u202e/u)
})
