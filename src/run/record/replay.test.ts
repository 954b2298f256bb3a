/**
 * What a replayed program issues beyond its record: made anew, unless the record says that the
 * program is over.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Journal, RecordedCall } from './journal.ts'
import { Replay } from './replay.ts'

const call = { tool: 'fx:put', args: '{}' }

function issuedBeyond(last: RecordedCall['last']): string[] {
  const calls = new Map([['1', { id: '1', tool: 'metier:program', args: '{}', last } as RecordedCall]])
  const replay = new Replay({ calls } as Journal)
  for (const id of ['1.1', '2']) assert.equal(replay.compare({ call, id, now: 0 }), null)
  return replay.unrecorded.map(({ id }) => id)
}

test('Replay lets a program issue nothing new after its own call was resolved: its box had died, or its time was up', () => {
  assert.deepEqual(issuedBeyond('issued'), ['1.1', '2'])
  assert.deepEqual(issuedBeyond('resolved'), ['2'])
})

test('Replay tells which arguments of a call differ, however long they are', () => {
  const long = 'x'.repeat(5000)
  const args = (value: object) => JSON.stringify({ key: long, list: Array(50).fill(0), ...value })
  const recorded = {
    id: '1',
    tool: 'fx:put',
    args: args({ deep: { a: `${long}1`, b: 1, gone: true } }),
    last: 'issued',
  }
  const replay = new Replay({ calls: new Map([['1', recorded as RecordedCall]]) } as Journal)
  const other = { tool: 'fx:put', args: args({ deep: { a: `${long}2`, b: 1, new: null } }) }
  const { code, context } = replay.compare({ call: other, id: '1', now: 0 })!
  assert.equal(code, 'REPLAY_MISMATCH')
  const differences = context.differences as { path: string; recorded: string; replayed: string }[]
  assert.deepEqual(differences.slice(1), [
    { path: '/deep/gone', recorded: 'true', replayed: null },
    { path: '/deep/new', recorded: null, replayed: 'null' },
  ])
  const [first] = differences
  assert.equal(first!.path, '/deep/a')
  assert.match(first!.recorded, /^… x+1" …$/)
  assert.match(first!.replayed, /^… x+2" …$/)
  assert.ok(first!.recorded.length < 300)
})
