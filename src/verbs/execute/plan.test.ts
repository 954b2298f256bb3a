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
  const calls = verbs
    .eventsOf(answer.run as RunId)
    .flatMap((event) => (event.type === 'call.issued' ? [event.body.tool] : []))
  assert.deepEqual(calls.sort(), ['code:filter', 'code:join', 'code:parse', 'fx:read'])
  assert.equal((await verbs.replay(String(answer.run))).ok, true)
})

test('execute() previews what a plan may call, and what is dangerous among it, in dry runs and with questions', async (t) => {
  const rules = [{ tool: 'fx:pay', args: { '/amount': 1 }, then: 'allow' }]
  const verbs = await openSpace(workspace(t, { config: { policy: { permissions: 'standard', rules } } }))
  const code = `const r = await mcp.fx.read({ key: 'k' })\nif (r.value) await mcp.fx.pay({ account: 'a', amount: 1 })\nawait mcp.fx.add({ key: 'k', by: 1 })\nawait mcp.fx.gone()`
  const judge = ({ mayCall }: JsonObject) =>
    (mayCall as JsonObject[]).map(({ tool, lines, then, danger }) => [tool, lines, then, danger])
  const expected = [
    ['fx:read', [1], 'allow', null],
    ['fx:pay', [2], null, 'a name with "pay" moves money'],
    ['fx:add', [3], 'ask', 'effect unknown, it does not say whether it destroys'],
    ['fx:gone', [4], null, null],
  ]
  const asked = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  assert.deepEqual([asked.status, judge(asked), asked.isWhole], ['approval_required', expected, true])
  const dry = await verbs.execute({ implementation: { type: 'code', code }, mode: 'dry-run' }, caller)
  assert.deepEqual(judge(dry), expected)
  const shown = (await verbs.run(String(asked.run))).mayCall as JsonObject[]
  assert.deepEqual(
    shown.map(({ tool }) => tool),
    ['fx:read', 'fx:pay', 'fx:add', 'fx:gone'],
  )
  const [question] = await verbs.withPlannedTools(verbs.approvals())
  assert.deepEqual(
    [question!.tool, question!.mayCall, question!.isWhole],
    ['fx:add', shown, true],
    'so does a question',
  )
  const open = await verbs.execute(
    { implementation: { type: 'code', code: 'return tool(args.t)' }, args: { t: 'fx:add' }, mode: 'dry-run' },
    caller,
  )
  assert.deepEqual([open.mayCall, open.isWhole], [[], false])
  const tasks = [
    { id: 'one', tool: 'fx:add', arguments: { key: 'a', by: 1 } },
    { id: 'two', type: 'code_execution', code: 'return mcp.fx.pay()' },
  ]
  const graph = await verbs.execute({ ...dag(tasks), mode: 'dry-run' }, caller)
  assert.deepEqual(
    (graph.mayCall as JsonObject[]).map(({ tool, tasks: by }) => [tool, by]),
    [
      ['fx:add', ['one']],
      ['fx:pay', ['two']],
    ],
  )
})
