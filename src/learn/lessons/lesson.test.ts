/** A run teaches a capability only where everything that it did went well, or was caught. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventBodies, LogLine } from '#model'
import { finishedSample, openSample, startSample } from '#test'
import { lessonOf } from './lesson.ts'

type Ended = Partial<EventBodies['call.resolved']>
const failed = (code: string): Ended => {
  const error = { code, message: 'no', context: {}, fate: 'retry' } as never
  return { ok: false, error }
}
const warning = (text: string): LogLine => ({ level: 'warn', text })

test('lessonOf(): what a program did not catch, or was refused, teaches no capability', async (t) => {
  const store = await openSample(t)
  const teaches = async (ends: Ended[], logs: LogLine[] = [], dropped = 0, tool = 'a:b') => {
    const run = await finishedSample(store, { tool, ends, logs, dropped })
    return lessonOf(store.events(run), { value: (member) => member as never, bytes: () => 0 })!.teaches
  }
  assert.equal(await teaches([{}, {}]), 'capability')
  assert.equal(await teaches([{}, failed('TOOL_ERROR')]), 'capability', 'it was caught')
  const unhandled = [warning('Nobody handled a rejection: ToolError: no')]
  assert.equal(await teaches([{}, failed('TOOL_ERROR')], unhandled), 'rates')
  assert.equal(await teaches([{}, failed('TOOL_ERROR')], [], 1), 'rates', 'it may have been said')
  assert.equal(await teaches([{}, {}], unhandled), 'capability', 'its own error, in what it did not wait for')
  assert.equal(await teaches([{}, { ...failed('TOOL_NOT_FOUND'), outcome: 'refused' }]), 'rates')
  assert.equal(await teaches([{}, failed('APPROVAL_DENIED')]), 'rates')
  assert.equal(await teaches([{}], [], 0, 'cap:x@1'), 'rates', 'it is a use of it')
  assert.equal(await teaches([{}, {}], [], 0, 'cap:x@1'), 'capability', 'a composition')
})

type Deviation = {
  started?: Partial<EventBodies['run.started']>
  issued?: Partial<EventBodies['call.issued']>
  sent?: Partial<EventBodies['call.sent']>
  resolved?: Ended
  settled?: EventBodies['call.settled']
  status?: 'done' | 'failed' | 'cancelled'
}

test('lessonOf(): what a human changed, and what is no habit of its own, teaches rates alone', async (t) => {
  const store = await openSample(t)
  const teaches = async ({ started, issued, sent, resolved, settled, status = 'done' }: Deviation) => {
    const chain = startSample(store, started)
    const call = { call: '1', tool: 'a:b', args: {}, effect: 'read', effectFrom: 'default', definition: null } as const
    chain.append('call.issued', { ...call, ...issued })
    chain.append('call.sent', { call: '1', attempt: 1, ...sent })
    if (settled !== undefined) chain.append('call.settled', settled)
    const answer = { outcome: 'answered', ok: true, value: 1, ms: 1, by: 'upstream' } as const
    chain.append('call.resolved', { call: '1', attempt: 1, ...answer, ...resolved })
    await chain.finish({ status, result: null, callCount: 1, ms: 5 })
    return lessonOf(store.events(chain.run), { value: (member) => member as never, bytes: () => 0 })!.teaches
  }
  assert.equal(await teaches({}), 'capability')
  const plan = (tasks: object) => ({ kind: 'dag', source: tasks, digest: '00' }) as never
  const single = plan([{ id: 'call', tool: 'a:b', arguments: { $literal: {} } }])
  const rates: Record<string, Deviation> = {
    'no intent': { started: { intent: null } },
    'a fork': { started: { forkedFrom: { run: 'r', at: '1' } } },
    'a session': { started: { plan: { kind: 'agent', source: {}, digest: '00' } as never } },
    'a single call': { started: { plan: single } },
    'a use of a capability': { started: { capability: 'cap:x@1' } },
    'arguments that a fork put there': { issued: { edited: {} } },
    'arguments that a human put there': { sent: { args: {} } },
    'a human said how it ended': { settled: { call: '1', how: 'done', who: 'ada', from: 'cli' } as never },
    settled: { resolved: { outcome: 'settled' } },
    'answered by a human': { resolved: { by: 'human' } },
    'answered by a mock': { resolved: { by: 'mock' } },
    failed: { status: 'failed' },
    cancelled: { status: 'cancelled' },
  }
  for (const [why, deviation] of Object.entries(rates)) assert.equal(await teaches(deviation), 'rates', why)
  const nothing: Deviation[] = ['dry-run', 'explore'].map((mode) => ({ started: { mode: mode as 'explore' } }))
  nothing.push({ started: { actor: { kind: 'learn', name: 'verification' } } })
  for (const deviation of nothing) assert.equal(await teaches(deviation), 'nothing', JSON.stringify(deviation))
  const graph = plan([{ id: 'call', tool: 'a:b', arguments: {} }])
  assert.equal(await teaches({ started: { plan: graph } }), 'capability', 'a graph of one task, written by an agent')
})
