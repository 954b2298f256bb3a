/** What a replayed program issues beyond its record: made anew, unless the record says that the program is over. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Journal, RecordedCall } from './journal.ts'
import { Replay } from './replay.ts'

const call = { tool: 'fx:put', args: '{}' }

function issuedBeyond(last: RecordedCall['last']): string[] {
  const calls = new Map([['1', { id: '1', tool: 'metier:program', args: '{}', last } as RecordedCall]])
  const replay = new Replay({ calls } as Journal)
  for (const id of ['1.1', '2']) assert.equal(replay.compare({ call, id, now: 0 }), null)
  return replay.anew.map(({ id }) => id)
}

test('Replay lets a program issue nothing new after its own call was resolved: its box had died, or its time was up', () => {
  assert.deepEqual(issuedBeyond('issued'), ['1.1', '2'])
  assert.deepEqual(issuedBeyond('resolved'), ['2'])
})
