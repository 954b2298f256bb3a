/** What a run has used up, of every kind of budget, over all its owners. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '#model'
import { caller, openSpace, workspace } from '#test'
import { nothingSpent, OwnedTime, overspent, spend } from './budget-spent.ts'

test('OwnedTime counts from a start or a resumption to the suspension or the last sign of life', () => {
  const owned = new OwnedTime()
  const see = (type: Event['type'], seconds: number) =>
    owned.see({ run: 'r', n: 1, at: new Date(seconds * 1000).toISOString(), type, body: {} } as unknown as Event)
  see('run.started', 100)
  see('call.issued', 101)
  assert.equal(owned.ms, 1000)
  see('run.suspended', 105)
  assert.equal(owned.ms, 5000)
  see('run.resumed', 1000)
  see('call.sent', 1002)
  see('run.resumed', 9000)
  see('call.resolved', 9003)
  assert.equal(owned.ms, 5000 + 2000 + 3000)
})

test('overspent() names the budget that is used up, and no other', () => {
  const budget = { calls: 2, wallMs: 1000, bytes: 10, tokens: 100, cost: 5 }
  const spent = { ...nothingSpent, calls: 2 }
  spend(spent, 10, { tokens: 100, cost: 5 })
  assert.equal(overspent('a:b', budget, spent), null)
  for (const [name, said] of [
    ['calls', '2 calls'],
    ['bytes', '10 bytes of results'],
    ['tokens', '100 tokens'],
    ['cost', '5 units of cost'],
  ] as const) {
    const error = overspent('a:b', budget, { ...spent, [name]: budget[name] + 1 })
    assert.equal(error?.code, 'BUDGET_EXCEEDED')
    assert.match(error!.message, new RegExp(`budget of ${said} is used up`))
  }
  const { tokens: _, cost: __, ...unbounded } = budget
  assert.equal(overspent('a:b', unbounded, { ...spent, tokens: 1e9, cost: 1e9 }), null)
})

const ask = { rules: [{ tool: 'fx:add', then: 'ask' }] }
const code = (text: string) => ({ implementation: { type: 'code', code: text } })

test('time while a run waits for a human is not used up; what earlier owners used is', async (t) => {
  const space = workspace(t, { config: { policy: ask, budget: { wallMs: 3000 } } })
  const verbs = await openSpace(space)
  await verbs.tools()
  const answered = async (text: string) => {
    const { run, approvals } = await verbs.execute(code(text), caller)
    const [{ id }] = approvals as unknown as [{ id: string }]
    await pause(3100)
    await verbs.decide(id, { answer: 'approved' }, caller, true)
    return verbs.resume(String(run), caller)
  }
  const patient = await answered(`await mcp.fx.add({ key: 'a', by: 1 }); return 'in time'`)
  assert.deepEqual([patient.status, patient.result], ['done', 'in time'])
  const slow = await answered(`await sleep(1600); await mcp.fx.add({ key: 'b', by: 1 }); await sleep(1600); return 1`)
  assert.deepEqual([slow.status, (slow.error as { code: string }).code], ['failed', 'BUDGET_EXCEEDED'])
})

test('tokens and cost that tools report are on the record, and bound a run', async (t) => {
  const verbs = await openSpace(workspace(t, { config: { budget: { tokens: 100 } } }))
  const text = `const seen = []; for (let i = 0; i < 4; i++) await mcp.fx.think().then(() => seen.push('ok'), (e) => seen.push(e.code)); return seen`
  const bounded = await verbs.execute(code(text), caller)
  assert.deepEqual(bounded.result, ['ok', 'ok', 'BUDGET_EXCEEDED', 'BUDGET_EXCEEDED'])
  const costly = await verbs.execute({ ...code(text), budget: { cost: 1 } }, caller)
  assert.deepEqual(costly.result, ['ok', 'BUDGET_EXCEEDED', 'BUDGET_EXCEEDED', 'BUDGET_EXCEEDED'])
  const resolved = verbs.store.events(String(bounded.run), { type: 'call.resolved' })
  assert.deepEqual(
    resolved.map(({ body }) => (body as { usage?: object }).usage ?? null),
    [{ tokens: 60, cost: 2 }, { tokens: 60, cost: 2 }, null, null],
  )
})

test('results that were too large for the program are used up, too, whoever owns the run', async (t) => {
  const rules = [{ tool: 'fx:add', then: 'ask' }]
  const verbs = await openSpace(workspace(t, { config: { policy: { permissions: 'standard', rules } } }))
  const text = `const codes = []; const note = (call) => call.then(() => codes.push('ok'), (e) => codes.push(e.code)); await note(mcp.fx.big({ bytes: 9_000_000 })); await note(mcp.fx.add({ key: 'a', by: 1 })); await note(mcp.fx.read({ key: 'a' })); return codes`
  const { approvals } = await verbs.execute({ ...code(text), budget: { bytes: 9_000_020 } }, caller)
  const [{ id }] = approvals as unknown as [{ id: string }]
  const { result } = await verbs.decide(id, { answer: 'approved' }, caller, true)
  assert.deepEqual(result, ['RESULT_TOO_LARGE', 'ok', 'BUDGET_EXCEEDED'])
})
