/**
 * A run that goes another way: time, secrets, questions and a crash change nothing of what is taken
 * over, nor of what is put in its place.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '#model'
import { caller, done, openSpace, type Workspace, workspace } from '#test'

const token = `sk-${'a'.repeat(24)}`
const asks = { policy: { permissions: 'standard', rules: [{ tool: 'fx:put', then: 'allow' }] } }
const hides = { record: { secrets: ['sk-[a-z]{20,}'] } }
const code = (text: string) => ({ implementation: { type: 'code', code: text } })

async function open(t: TestContext, config: object = {}) {
  const space = workspace(t, { config })
  return { space, verbs: await openSpace(space) }
}

function added(space: Workspace): unknown[] {
  return done(space, 'add').map(({ args }) => args)
}

function question(answer: JsonObject): { id: string; args: JsonObject; from: unknown } {
  return (answer.approvals as { id: string; args: JsonObject; from: unknown }[])[0]!
}

test('fork() gives a program the time and the chance of the run that it left', async (t) => {
  const { verbs } = await open(t)
  const program = `const one = await mcp.fx.add({ key: 'a' + Date.now() + Math.random(), by: 1 })
                   await sleep(5)
                   const two = await mcp.fx.add({ key: 'b' + Date.now(), by: 2 })
                   return (await mcp.fx.add({ key: 'c', by: one.total + two.total })).total`
  const first = await verbs.execute(code(program), caller)
  const forked = await verbs.fork(String(first.run), 4, { key: 'd', by: 9 }, caller)
  assert.deepEqual([forked.status, forked.result], ['done', 9], JSON.stringify(forked))
  const twice = await verbs.fork(String(forked.run), 4, undefined, caller)
  assert.deepEqual([twice.status, twice.result], ['done', 6], JSON.stringify(twice))
  assert.equal((await verbs.replay(String(twice.run))).ok, true)
})

test('fork() asks about the arguments that it gives, and sends them, whoever goes on with the run', async (t) => {
  const { space, verbs } = await open(t, asks)
  const first = await verbs.execute(code(`return (await mcp.fx.add({ key: 'one', by: 1 })).total`), caller)
  const forked = await verbs.fork(String(first.run), 1, { key: 'other', by: 5 }, caller)
  assert.deepEqual(question(forked).args, { key: 'other', by: 5 })
  assert.equal(question(forked).from, null, 'they come from none of the places that the program names')
  const listed = verbs.approvals().find(({ id }) => id === question(forked).id)
  assert.deepEqual(listed?.args, { key: 'other', by: 5 })
  await verbs.close()
  const later = await openSpace(space)
  const answer = await later.decide(question(forked).id, { answer: 'approved' }, caller, true)
  assert.deepEqual([answer.status, answer.result], ['done', 5])
  assert.deepEqual(added(space), [{ key: 'other', by: 5 }])
})

const keeper = `await mcp.fx.put({ key: 't', value: 'sk-' + 'a'.repeat(24) })
                const { value } = await mcp.fx.read({ key: 't' })
                return (await mcp.fx.add({ key: 'bearer ' + value, by: 1 })).total`

test('fork() takes secrets along while they are kept, and sends no placeholder in place of one that is gone', async (t) => {
  const { space, verbs } = await open(t, { ...asks, ...hides })
  const { run, ...asked } = await verbs.execute(code(keeper), caller)
  const forked = await verbs.fork(String(run), 3, undefined, caller)
  assert.equal((await verbs.decide(question(forked).id, { answer: 'approved' }, caller, true)).result, 1)
  await verbs.decide(question(asked).id, { answer: 'denied' }, caller, true)
  const late = await verbs.fork(String(run), 3, undefined, caller)
  assert.deepEqual([late.status, (late.error as JsonObject).code], ['failed', 'INVALID_INPUT_PARAM'])
  assert.deepEqual(added(space), [{ key: `bearer ${token}`, by: 1 }])
})

test('fork() takes no placeholder for another secret than the one it stood for', async (t) => {
  const { verbs } = await open(t, hides)
  const program = `await mcp.fx.put({ key: 't', value: 'sk-' + 'a'.repeat(24) })
                   const one = await mcp.fx.read({ key: 't' })
                   await mcp.fx.put({ key: 't', value: 'sk-' + 'b'.repeat(24) })
                   return [one.value, (await mcp.fx.read({ key: 't' })).value]`
  const { run } = await verbs.execute(code(program), caller)
  const { result } = await verbs.fork(String(run), 3, undefined, caller)
  const [one, two] = result as string[]
  assert.notEqual(one, two)
})

test('fork() records no secret that stands in the arguments it is given', async (t) => {
  const { space, verbs } = await open(t, hides)
  const { run } = await verbs.execute(code(`return (await mcp.fx.add({ key: 'a', by: 1 })).total`), caller)
  const forked = await verbs.fork(String(run), 1, { key: `bearer ${token}`, by: 3 }, caller)
  assert.equal(forked.result, 3)
  assert.deepEqual(added(space).at(-1), { key: `bearer ${token}`, by: 3 })
  assert.ok(!verbs.lines(String(forked.run)).join().includes(token))
})

test('fork() gives other arguments to a program inside a graph, and to a timer, however large they are', async (t) => {
  const { verbs } = await open(t)
  const tasks = [{ id: 'c', type: 'code_execution', code: 'return args.text.length', arguments: { text: 'a' } }]
  const graph = await verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  const forked = await verbs.fork(String(graph.run), 1, { text: 'x'.repeat(70_000) }, caller)
  assert.deepEqual([graph.result, forked.result], [1, 70_000], JSON.stringify(forked.error))
  assert.deepEqual(await verbs.replay(String(forked.run)), { ok: true, run: forked.run, calls: 1 })
  const timed = await verbs.execute(
    code('await sleep(1); const was = Date.now(); await sleep(1); return Date.now() - was'),
    caller,
  )
  const { result } = await verbs.fork(String(timed.run), 2, { ms: 300 }, caller)
  // A timer may fire within the millisecond before; it was asked for 1 ms, and given 300.
  assert.ok(Number(result) >= 299, String(result))
})
