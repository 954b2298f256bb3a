/**
 * Time as a bound: a deadline that holds whatever the run waits for, across restarts, and the time
 * of a program inside a graph.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '#model'
import { caller, done, effects, openSpace, workspace } from '#test'

const asks = {
  policy: {
    rules: [
      { tool: 'fx:add', then: 'ask' },
      { tool: 'fx:*', then: 'allow' },
    ],
  },
}
const code = (text: string) => ({ implementation: { type: 'code', code: text } })
const dag = (...tasks: object[]) => ({ implementation: { type: 'dag', tasks } })
const codeOf = ({ error }: JsonObject) => (error as { code: string }).code
const contextOf = ({ error }: JsonObject) => (error as { context: JsonObject }).context

test('a run that waits for a human is over at its deadline, also after a restart, and sends nothing any more', async (t) => {
  const space = workspace(t, { config: asks })
  const first = await openSpace(space)
  await first.tools()
  const program = code(
    `await mcp.fx.add({ key: 'a', by: 1 }).catch(() => {}); await mcp.fx.put({ key: 'late', value: 1 })`,
  )
  const { run, approvals, status } = await first.execute({ ...program, budget: { deadlineMs: 1500 } }, caller)
  assert.equal(status, 'approval_required')
  const [{ id, expiresAt }] = approvals as unknown as [{ id: string; expiresAt: string }]
  const startedAt = Date.parse(String((await first.run(String(run))).startedAt))
  assert.equal(Date.parse(expiresAt), startedAt + 1500, 'nobody is asked beyond it')
  await first.close()
  await pause(startedAt + 1600 - Date.now())
  const verbs = await openSpace(space)
  await assert.rejects(verbs.decide(id, { answer: 'approved' }, caller, true), { code: 'APPROVAL_EXPIRED' })
  const over = await verbs.resume(String(run), caller)
  assert.deepEqual([over.status, codeOf(over), contextOf(over)], ['failed', 'BUDGET_EXCEEDED', { deadlineMs: 1500 }])
  assert.deepEqual(effects(space), [])
  const [started] = verbs.eventsOf(String(run), { type: 'run.started' })
  assert.equal((started!.body as { budget: JsonObject }).budget.deadlineMs, 1500)
})

test('a run that moves is ended at its deadline; the file bounds what is asked for', async (t) => {
  const space = workspace(t, { config: { budget: { deadlineMs: 1000 } } })
  const verbs = await openSpace(space)
  const over = await verbs.execute(
    { ...code('await mcp.fx.wait({ ms: 60000 })'), budget: { deadlineMs: 90_000 } },
    caller,
  )
  assert.deepEqual([over.status, codeOf(over), contextOf(over)], ['failed', 'BUDGET_EXCEEDED', { deadlineMs: 1000 }])
})

test('a program inside a graph has the time of its task: then it is over, and after a restart it stays so', async (t) => {
  const space = workspace(t, { config: asks })
  const first = await openSpace(space)
  await first.tools()
  const slow = {
    id: 'slow',
    type: 'code_execution',
    code: `try { await mcp.fx.wait({ ms: 60000 }) } catch { await mcp.fx.put({ key: 'after its end', value: 1 }) }`,
    timeoutMs: 700,
  }
  const failed = await first.execute(dag(slow), caller)
  assert.deepEqual([failed.status, codeOf(failed)], ['failed', 'CALL_TIMEOUT'])
  assert.equal(contextOf(failed).task, 'slow')
  await first.close()
  const verbs = await openSpace(space)
  const replayed = await verbs.replay(String(failed.run))
  assert.deepEqual([replayed.ok, 'error' in replayed], [true, false])
  assert.deepEqual(done(space, 'put'), [])
})

test('time in which a human is waited for is not that of the task', async (t) => {
  const space = workspace(t, { config: asks })
  const verbs = await openSpace(space)
  await verbs.tools()
  const asking = {
    id: 'asking',
    type: 'code_execution',
    code: `await mcp.fx.add({ key: 'a', by: 1 }); return 'in time'`,
    timeoutMs: 4000,
  }
  const { run, approvals } = await verbs.execute(dag(asking), caller)
  await pause(4100)
  const [{ id }] = approvals as unknown as [{ id: string }]
  await verbs.decide(id, { answer: 'approved' }, caller, true)
  assert.equal((await verbs.resume(String(run), caller)).result, 'in time')
})
