/** Pure operations on the record: between the calls, once, and only where they are wanted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, RunId } from '#model'
import { caller, metier, openSpace, workspace } from '#test'
import type { Verbs } from '#verbs'

const code = `const r = await mcp.fx.read({ key: 'k' })
const keys = Object.keys(r).map((key) => key.toUpperCase()).sort()
await mcp.fx.add({ key: keys.join(), by: 1 })
return keys.filter((key) => key > 'L')`

const told = (verbs: Verbs, run: unknown) =>
  verbs.eventsOf(run as RunId).flatMap(({ type, body }) => {
    if (type === 'code.traced') return [body.operations.join(' ')]
    return type === 'call.issued' ? [body.tool] : []
  })

test('execute() records the pure operations between the calls, once, also over a resume', async (t) => {
  const space = workspace(t, { config: { policy: { permissions: 'standard', rules: [] } } })
  const verbs = await openSpace(space)
  const asked = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  const [approval] = asked.approvals as { id: string }[]
  const answer = await verbs.decide(approval!.id, { answer: 'approved' }, caller, true)
  assert.deepEqual([answer.status, answer.result], ['done', ['VALUE']])
  const expected = ['fx:read', 'code:keys code:map code:sort code:join', 'fx:add', 'code:filter']
  assert.deepEqual(told(verbs, answer.run), expected)
  assert.equal((await verbs.replay(String(answer.run))).ok, true)
  const shown = (await verbs.run(String(answer.run))).traced as JsonObject[]
  assert.deepEqual(
    shown.map(({ after, operations }) => [after, (operations as string[]).length]),
    [
      [1, 4],
      [2, 1],
    ],
  )
  const { stdout } = await metier(space, ['run', 'show', String(answer.run)])
  assert.match(stdout, /fx:read[^\n]*\n[^\n]*· code:keys code:map code:sort code:join\n[^\n]*fx:add/)
})

test('execute() tells in which call a program did them, and nothing where the configuration switches it off', async (t) => {
  const verbs = await openSpace(workspace(t))
  const tasks = [{ id: 'a', tool: 'code:map', code: 'args.l.map((n) => n + 1)', arguments: { l: [1] } }]
  const graph = await verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  const [traced] = verbs.eventsOf(graph.run as RunId).filter(({ type }) => type === 'code.traced')
  assert.deepEqual(traced?.body, { operations: ['code:map'], call: '1' })
  const off = await openSpace(workspace(t, { config: { record: { operations: false } } }))
  const quiet = await off.execute({ implementation: { type: 'code', code: 'return [1].map(String)' } }, caller)
  assert.deepEqual([quiet.result, told(off, quiet.run)], [['1'], []])
})
