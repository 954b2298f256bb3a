/** A run teaches a capability only where everything that it did went well, or was caught. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventBodies, LogLine } from '#model'
import { finishedSample, openSample } from '#test'
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
