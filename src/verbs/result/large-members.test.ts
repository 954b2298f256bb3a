/**
 * Runs whose events hold members over 64 KB, which stand as blobs: whatever reads such a run gets
 * values, never a reference.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type JsonObject, limits, type RunId } from '#model'
import { caller, done, openSpace, workspace } from '#test'
import type { Verbs } from '#verbs'

const asking = { config: { policy: { permissions: 'standard', rules: [] } } }
const large = 'x'.repeat(100_000)
const logs = `for (let i = 0; i < 9; i++) console.log('x'.repeat(8000));`
const run = (verbs: Verbs, code: string, more: object = {}) =>
  verbs.execute({ implementation: { type: 'code', code }, ...more }, caller)

const approvalIn = (answer: JsonObject) => (answer.approvals as { id: string }[])[0]!.id

/** What every reader of the run says, without a reference anywhere in it. */
async function readAll(verbs: Verbs, id: unknown): Promise<JsonObject> {
  const shown = await verbs.run(String(id))
  const all = [shown, verbs.answer(String(id)), verbs.approvals()]
  assert.doesNotMatch(JSON.stringify(all), /\$blob/)
  return shown
}

function blobsOf(verbs: Verbs, id: unknown, type: string): number {
  const lines = verbs.linesOf(String(id)).filter((line) => line.includes(`"type":"${type}"`))
  return lines.filter((line) => line.includes('{"$blob":"')).length
}

test('execute() answers a run whose turn logged more than 64 KB, with its id and every line', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const answer = await run(verbs, `${logs} return (await mcp.fx.add({ key: 'a', by: 1 })).total`)
  assert.deepEqual([answer.status, answer.result], ['done', 1], JSON.stringify(answer))
  assert.equal(blobsOf(verbs, answer.run, 'run.logged'), 1, 'the lines stand as a blob')
  assert.equal(((await readAll(verbs, answer.run)).logs as unknown[]).length, 9)
  assert.deepEqual(await verbs.resume(String(answer.run), caller), verbs.answer(String(answer.run)))
  assert.equal((await verbs.replay(String(answer.run))).ok, true)
  assert.equal(done(space, 'add').length, 1)
})

async function waiting(t: TestContext) {
  const space = workspace(t, asking)
  const verbs = await openSpace(space)
  const code = `${logs} try { return (await mcp.fx.add({ key: 'a', by: 1 })).total } catch (error) { return error.code }`
  const asked = await run(verbs, code)
  assert.equal(asked.status, 'approval_required', JSON.stringify(asked))
  return { space, verbs, asked, id: String(asked.run) }
}

test('a run that waits after large logs can be approved', async (t) => {
  const { space, verbs, asked } = await waiting(t)
  const { status, result } = await verbs.decide(approvalIn(asked), { answer: 'approved' }, caller, true)
  assert.deepEqual([status, result, done(space, 'add').length], ['done', 1, 1])
  assert.equal(((await readAll(verbs, asked.run)).logs as unknown[]).length, 9, 'a replay logs nothing twice')
})

test('a run that waits after large logs can be denied, with a reason of any length', async (t) => {
  const { verbs, asked, id } = await waiting(t)
  const { result } = await verbs.decide(approvalIn(asked), { answer: 'denied', reason: large }, caller, true)
  assert.equal(result, 'APPROVAL_DENIED')
  assert.equal(blobsOf(verbs, id, 'approval.answered'), 1)
  const [call] = (await readAll(verbs, id)).calls as { approvals: { answered: { reason: string } }[] }[]
  assert.equal(call!.approvals[0]!.answered.reason, large)
})

test('a run that waits after large logs can be cancelled, with a reason of any length', async (t) => {
  const { verbs, id } = await waiting(t)
  const { status, error } = await verbs.cancel(id, caller, large)
  assert.deepEqual([status, (error as JsonObject).code], ['cancelled', 'CANCELLED'])
  assert.equal(blobsOf(verbs, id, 'cancel.asked'), 1)
  await readAll(verbs, id)
})

test('a run that was left after large logs is resumed by another process', async (t) => {
  const space = workspace(t)
  const first = await openSpace(space)
  const { run: id } = await run(first, `${logs} await sleep(300); return 'over'`, { wait: 0 })
  await first.close()
  const verbs = await openSpace(space)
  const { status, result } = await verbs.resume(String(id), caller)
  assert.deepEqual([status, result], ['done', 'over'])
  assert.equal(((await readAll(verbs, id)).logs as unknown[]).length, 9)
})

test('decide() takes edited arguments over 64 KB, which are sent, shown and replayed whole', async (t) => {
  const space = workspace(t, asking)
  const verbs = await openSpace(space)
  const asked = await run(verbs, `return (await mcp.fx.add({ key: 'a', by: 1 })).key.length`)
  const args = { key: large, by: 2 }
  const { result } = await verbs.decide(approvalIn(asked), { answer: 'approved', args }, caller, true)
  assert.equal(result, large.length)
  assert.equal(done(space, 'add')[0]!.args.key, large)
  const [call] = (await readAll(verbs, asked.run)).calls as { edited: unknown }[]
  assert.deepEqual(call!.edited, args)
  assert.equal((await verbs.replay(String(asked.run))).ok, true)
})

test('an answer shows the start of an error over 64 KB, and run show all of it', async (t) => {
  const { verbs, id } = await waiting(t)
  await verbs.cancel(id, caller, large)
  assert.equal(blobsOf(verbs, id, 'run.finished'), 1)
  const { error } = verbs.answer(id) as { error: JsonObject }
  assert.deepEqual([error.code, error.fate], ['CANCELLED', 'give_up'])
  assert.ok(JSON.stringify(error).length < limits.inlineResultBytesMax)
  const shown = (await readAll(verbs, id)) as { error: { message: string } }
  assert.ok(shown.error.message.endsWith(large))
})

test('a graph whose plan is over 64 KB is a graph in its answer too, also when it is forked', async (t) => {
  const verbs = await openSpace(workspace(t))
  const tasks = [
    { id: 'one', tool: 'fx:put', arguments: { key: 'a', value: large } },
    { id: 'two', tool: 'fx:read', arguments: { key: 'a' }, dependsOn: ['one'] },
  ]
  const answer = await verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  assert.deepEqual([answer.status, (answer.calls as unknown[]).length], ['done', 2], JSON.stringify(answer))
  assert.equal(blobsOf(verbs, answer.run, 'run.started'), 1)
  assert.deepEqual(((await readAll(verbs, answer.run)).plan as JsonObject).source, tasks)
  const forked = await verbs.fork(String(answer.run), 2, { key: 'b' }, caller)
  assert.equal(forked.status, 'done', JSON.stringify(forked))
  await readAll(verbs, forked.run)
})

test('fork() copies the edited arguments and the raw answer of earlier calls as values', async (t) => {
  const verbs = await openSpace(workspace(t))
  const tasks = [
    { id: 'one', tool: 'fx:put', arguments: { key: 'a', value: 1 }, whole: true },
    { id: 'two', tool: 'fx:big', arguments: { bytes: 100_000 }, dependsOn: ['one'], whole: true },
    { id: 'three', tool: 'fx:read', arguments: { key: 'a' }, dependsOn: ['two'] },
  ]
  const origin = await verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  const first = await verbs.fork(String(origin.run), 1, { key: 'a', value: large }, caller)
  const second = await verbs.fork(String(first.run), 3, { key: 'b' }, caller)
  const shown = (await readAll(verbs, second.run)) as { calls: { edited?: JsonObject }[] }
  assert.deepEqual(shown.calls[0]!.edited, { key: 'a', value: large })
  const resolved = verbs.eventsOf(second.run as RunId, { type: 'call.resolved' })
  const answers = resolved.flatMap(({ type, body }) => (type === 'call.resolved' && body.answer ? [body.answer] : []))
  assert.equal(answers.length, 2)
  for (const answer of answers) assert.ok('result' in (verbs.store.value(answer) as JsonObject))
})

test('settle() takes a value over 64 KB, which the program gets', async (t) => {
  const verbs = await openSpace(workspace(t))
  const doubt = `const pending = mcp.fx.add({ key: 'x', by: 1, ms: 5000 }); await mcp.fx.wait({ ms: 50 }); try { await mcp.fx.die({}) } catch {} return (await pending).length`
  const { run: id, status } = await run(verbs, doubt)
  assert.equal(status, 'uncertain')
  const settled = await verbs.settle(String(id), '1', { how: 'done', value: large }, caller, true)
  assert.equal(settled.result, large.length, JSON.stringify(settled))
  assert.ok(blobsOf(verbs, id, 'call.settled') === 1)
  await readAll(verbs, id)
})
