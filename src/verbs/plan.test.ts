/** Graphs through the whole product: refused before anything runs, and pure operations as tasks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, RunId } from '#model'
import { caller, effects, openSpace, workspace } from '#test'

const dag = (tasks: object[]) => ({ implementation: { type: 'dag', tasks } })

test('execute() refuses a wrong graph before anything runs, with all its problems, and leaves no run', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const tasks = [
    { id: 'a', tool: 'fx:add', arguments: { key: 'k', by: 1 } },
    { id: 'b', tool: 'fx:nothing' },
    { id: 'c', tool: 'fx:add', arguments: { key: { $from: 'a', path: '/key' }, by: 'one' } },
    { id: 'd', tool: 'fx:read', arguments: { key: '{{z}}' } },
  ]
  await assert.rejects(verbs.execute(dag(tasks), caller), (error: { code: string; context: JsonObject }) => {
    assert.equal(error.code, 'PLAN_INVALID')
    assert.equal((error.context.problems as string[]).length, 3)
    return true
  })
  assert.deepEqual([verbs.runs(), effects(space)], [[], []])
})

test('execute() runs pure operations as tasks, on the record under their names, and lets them fail alone', async (t) => {
  const verbs = await openSpace(workspace(t, { config: { policy: { permissions: 'minimal', rules: [] } } }))
  const tasks = [
    { id: 'read', tool: 'fx:read', arguments: { key: 'k' } },
    { id: 'big', tool: 'code:filter', code: 'args.list.filter((n) => n > 1)', arguments: { list: [1, 2, 3] } },
    { id: 'sum', tool: 'code:join', arguments: { input: { $from: 'big' }, args: ['+'] } },
    { id: 'bad', tool: 'code:parse', arguments: { input: 'no JSON' } },
  ]
  const answer = await verbs.execute(dag(tasks), caller)
  assert.deepEqual([answer.status, answer.result], ['done', { read: { key: 'k', value: null }, sum: '2+3' }])
  const calls = verbs.store
    .events(answer.run as RunId)
    .flatMap((event) => (event.type === 'call.issued' ? [event.body.tool] : []))
  assert.deepEqual(calls.sort(), ['code:filter', 'code:join', 'code:parse', 'fx:read'])
  assert.equal((await verbs.replay(String(answer.run))).ok, true)
})
