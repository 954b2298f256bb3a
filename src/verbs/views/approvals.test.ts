/**
 * Lists of questions: however many there are, they cost a few queries and no reading of the runs
 * that ask.
 */
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { caller, openSpace, workspace } from '#test'

const ask = { policy: { rules: [{ tool: 'fx:*', then: 'ask' }] } }
const code = (key: string, calls: number) =>
  `return Promise.all(Array.from({ length: ${calls} }, (_, i) => mcp.fx.add({ key: '${key}' + i, by: 1 })))`

/** How many queries are made while something is read. */
async function queriesOf(t: TestContext, read: () => Promise<unknown>): Promise<number> {
  const counted = (['all', 'get', 'iterate'] as const).map((name) => t.mock.method(StatementSync.prototype, name))
  await read()
  const queries = counted.reduce((sum, { mock }) => sum + mock.callCount(), 0)
  for (const { mock } of counted) mock.restore()
  return queries
}

test('approvals() and withPlannedTools() make as many queries for many questions as for one', async (t) => {
  const space = workspace(t, { config: ask })
  const verbs = await openSpace(space)
  // With two gateways it is asked which one could go on with each run.
  t.after(verbs.announceGateway('http://127.0.0.1:1', false))
  t.after((await openSpace(space)).announceGateway('http://127.0.0.1:2', false))
  const list = () => verbs.withPlannedTools(verbs.approvals())
  await verbs.execute({ implementation: { type: 'code', code: code('one', 1) } }, caller)
  const [few, queries] = [await list(), await queriesOf(t, list)]
  await Promise.all(
    ['a', 'b', 'c', 'd'].map((key) =>
      verbs.execute({ intent: key, implementation: { type: 'code', code: code(key, 5) } }, caller),
    ),
  )
  const many = await list()
  assert.deepEqual([few.length, many.length], [1, 21])
  assert.deepEqual(many.map(({ intent }) => intent ?? 'one').sort(), [...'aaaaabbbbbcccccddddd', 'one'])
  assert.equal(await queriesOf(t, list), queries)
})
