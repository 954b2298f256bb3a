/** Steps of a run return what follows from them, and its phase says what still counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventBodies, IssuedCall, Program, Tool } from '#model'
import type { Chain } from '#record'
import type { CallContext, RunContext } from '#run/calls'
import { newJournal } from '#run/record'
import { RunState } from './run-state.ts'

const started = { plan: { kind: 'code' }, budget: { calls: 9, bytes: 9e9, wallMs: 9e9 } } as EventBodies['run.started']
const definition = { id: 'fx:read', effect: 'read', effectFrom: 'configuration', digest: 'd' } as Tool
const read: IssuedCall = { tool: 'fx:read', args: '{}' }

/** A record that only keeps the types of what was appended. */
function opened(calls: string[] = []) {
  const events: string[] = []
  const journal = newJournal(started, 0)
  for (const id of calls) journal.calls.set(id, { id, ...read, effect: 'read', last: 'sent', attempt: 1 } as never)
  const run = new RunState({
    journal,
    chain: {
      run: 'r',
      append: (type: string) => events.push(type) && { n: 0, at: 0 },
      inbox: () => [],
    } as unknown as Chain,
    catalog: { problemOf: () => null } as unknown as CallContext['catalog'],
    secrets: { hide: (value: unknown) => value, reveal: (value: unknown) => ({ value, foreign: [] }) } as never,
    policy: { permissions: 'standard', rules: [], expireMs: 1, write: () => {} },
    program: { drop: () => {} } as Program,
    budget: started.budget,
    plan: 'code',
    mocked: null,
    now: () => 0,
  } as unknown as RunContext & CallContext)
  return { run, events, issue: () => run.step({ kind: 'issued', call: read, id: '1', now: 0, definition }) }
}

const kinds = (followUps: { kind: string }[]) => followUps.map(({ kind }) => kind)
const asked = { who: 'human', from: 'cli' } as const

test('RunState of a fresh run is live at once, and one with calls on record is replayed first', () => {
  assert.equal(opened().run.phase.name, 'live')
  const { run } = opened(['1'])
  assert.equal(run.phase.name, 'replaying')
  run.goLive()
  assert.equal(run.phase.name, 'live')
})

test('RunState sends what is issued, cancels it when the run stops, and ends with the first reason', () => {
  const { run, events, issue } = opened()
  assert.deepEqual(kinds(issue()), ['send'])
  assert.deepEqual(run.step({ kind: 'cancelled', asked }), [])
  assert.equal(run.phase.name, 'stopping')
  assert.deepEqual(issue(), [], 'nothing is issued any more')
  run.step({ kind: 'cancelled', asked })
  assert.deepEqual(kinds(run.rest()), ['deliver'])
  assert.deepEqual(events, ['call.issued', 'cancel.asked', 'call.resolved'])
  const [end] = run.settle()
  assert.ok(end?.kind === 'finish' && end.body.status === 'cancelled')
})

test('RunState stops a program that waits for nothing, and takes no input when its owner has left', () => {
  const { run, issue } = opened()
  run.rest()
  const [end] = run.settle()
  assert.ok(end?.kind === 'finish' && end.body.error?.code === 'PROGRAM_STALLED')
  const left = opened()
  const [send] = left.issue()
  assert.ok(send?.kind === 'send')
  left.run.close('leaving')
  const tried = { kind: 'tried', call: send.call, ms: 0 } as const
  assert.ok(!left.run.accepts({ ...tried, outcome: { outcome: 'in_doubt' } }))
  assert.ok(left.run.accepts({ ...tried, outcome: { outcome: 'answered', ok: true, value: 1 } }))
  left.run.close('over')
  assert.ok(!left.run.accepts({ ...tried, outcome: { outcome: 'answered', ok: true, value: 1 } }))
  assert.ok(send.call.state.abort.signal.aborted)
  assert.deepEqual(issue(), [])
})
