/** Capabilities called from code, from graphs and as the plan: pinned, judged call by call. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject, RunId } from '#model'
import { caller, done, openSpace, schemaOf, type TestVerbs, teach, workspace } from '#test'

const code = (text: string, more: object = {}) => ({ implementation: { type: 'code', code: text }, ...more })
const asking = { policy: { permissions: 'standard', rules: [] } }
const adding = `return (await mcp.fx.add({ key: args.key, by: args.by })).total`
const addingSchema = schemaOf({ key: { type: 'string' }, by: { type: 'integer', default: 1 } })

async function open(t: TestContext, config: object = {}) {
  const space = workspace(t, { config })
  const verbs = await openSpace(space)
  const execute = (input: object) => verbs.execute(input, caller)
  const runs = (text: string, more: object = {}) => execute(code(text, more))
  return { space, verbs, execute, runs, store: verbs.store }
}

const issued = (verbs: TestVerbs, run: unknown) =>
  verbs
    .eventsOf(String(run))
    .flatMap((event) => (event.type === 'call.issued' ? [event.body] : []))
    .map(({ call, tool, definition, effect }) => ({ call, tool, definition, effect }))

function question(answer: JsonObject) {
  assert.equal(answer.status, 'approval_required', JSON.stringify(answer))
  return (answer.approvals as { id: string; call: string; tool: string }[])[0]!
}

test('cap.NAME() in code runs the capability as a call, with its own calls below it', async (t) => {
  const { verbs, runs, store } = await open(t)
  const digest = await teach(store, 'add_up', adding, { parametersSchema: addingSchema })
  const answer = await runs(`return [await cap.add_up({ key: 'a', by: 2 }), await cap['add_up@1']({ key: 'a' })]`)
  assert.deepEqual([answer.status, answer.result], ['done', [2, 3]], JSON.stringify(answer))
  const calls = issued(verbs, answer.run)
  assert.deepEqual(
    calls.map(({ call, tool }) => `${call} ${tool}`),
    ['1 cap:add_up@1', '1.1 fx:add', '2 cap:add_up@1', '2.1 fx:add'],
  )
  assert.deepEqual([calls[0]!.definition, calls[0]!.effect], [digest, null])
  const replayed = await verbs.replay(String(answer.run))
  assert.equal(replayed.ok, true, JSON.stringify(replayed))
})

test('a graph calls a capability as a task, and a capability may be a graph with parameters', async (t) => {
  const { verbs, execute, store } = await open(t)
  const tasks = [
    { id: 'one', tool: 'fx:add', arguments: { key: { $args: '/key' }, by: { $args: '/by' } } },
    {
      id: 'two',
      tool: 'fx:put',
      arguments: { key: { $args: '/key' }, value: { sum: { $from: 'one', path: '/total' } } },
    },
    { id: 'three', tool: 'fx:read', arguments: { key: { $args: '/key' } }, dependsOn: ['two'] },
  ]
  await teach(store, 'store_sum', { type: 'dag', tasks }, { parametersSchema: addingSchema })
  const key = '{{one}} is no binding'
  const outer = [{ id: 'sum', type: 'capability', tool: 'cap:store_sum', arguments: { key: { $literal: key } } }]
  const answer = await execute({ implementation: { type: 'dag', tasks: outer } })
  assert.deepEqual([answer.status, answer.result], ['done', { key, value: { sum: 1 } }], JSON.stringify(answer))
  assert.equal(issued(verbs, answer.run).at(-1)!.call, '1.3')
  assert.equal((await verbs.replay(String(answer.run))).ok, true)
  const wrong = [{ id: 'sum', type: 'capability', tool: 'cap:store_sum', arguments: { by: 2 } }]
  const more = [{ id: 'no', tool: 'cap:no_such', arguments: {} }]
  await assert.rejects(execute({ implementation: { type: 'dag', tasks: [...wrong, ...more] } }), (error: Error) => {
    assert.match(error.message, /"sum".*"key".*"no": Cannot call "cap:no_such".*no such capability/s)
    return true
  })
})

test('execute() runs a capability as the plan, and the run says which; its key finds it again', async (t) => {
  const { space, verbs, execute, store } = await open(t)
  await teach(store, 'add_up', adding, { parametersSchema: addingSchema })
  const implementation = { type: 'capability', id: 'cap:add_up' }
  const asked = { implementation, args: { key: 'a' }, key: 'k1' }
  const answer = await execute(asked)
  assert.deepEqual([answer.status, answer.result], ['done', 1], JSON.stringify(answer))
  const started = verbs.eventsOf(String(answer.run), { type: 'run.started' })[0]!.body as JsonObject
  assert.deepEqual([started.capability, started.args], ['cap:add_up@1', { key: 'a', by: 1 }])
  await teach(store, 'add_up', `return 'other'`, { version: 2, parametersSchema: addingSchema })
  assert.equal((await execute(asked)).run, answer.run)
  assert.equal((await execute({ ...asked, key: 'k2' })).result, 'other')
  assert.equal(
    (await execute({ implementation: { ...implementation, id: 'cap:add_up@1' }, args: { key: 'a' } })).result,
    2,
  )
  assert.equal(done(space, 'add').length, 2)
  await assert.rejects(execute({ implementation, args: { by: 'x' } }), { code: 'MISSING_REQUIRED_PARAM' })
  await assert.rejects(execute({ implementation: { ...implementation, id: 'cap:add_down' } }), {
    code: 'TOOL_NOT_FOUND',
  })
})

test('a capability grants nothing: what it calls is asked about as if the agent had written it', async (t) => {
  const { space, verbs, runs, store } = await open(t, asking)
  await teach(store, 'add_up', adding, { parametersSchema: addingSchema })
  const asked = question(await runs(`return await cap.add_up({ key: 'a', by: 2 })`))
  assert.deepEqual([asked.call, asked.tool], ['1.1', 'fx:add'])
  assert.equal(done(space, 'add').length, 0)
  const denied = await verbs.decide(asked.id, { answer: 'denied' }, caller, true)
  assert.equal(denied.status, 'failed')
  assert.equal(((denied as JsonObject).error as JsonObject).code, 'APPROVAL_DENIED')
})

test('a run that waits inside a capability goes on with the source it began with, whatever became of it', async (t) => {
  const { space, verbs, runs, store } = await open(t, asking)
  const slow = `const { value } = await mcp.fx.read({ key: args.key }); return [value, (await mcp.fx.add({ key: args.key, by: args.by })).total]`
  await teach(store, 'add_up', slow, { parametersSchema: addingSchema })
  const asked = question(await runs(`return await cap.add_up({ key: 'a', by: 2 })`))
  await teach(store, 'add_up', `return 'other'`, { version: 2, parametersSchema: addingSchema })
  const change = { capability: 'add_up', why: 'test', who: 'test', from: 'cli' }
  await store.appendHome('capability.changed', { ...change, status: 'forgotten' })
  await verbs.close()
  const again = await openSpace(space)
  const answer = await again.decide(asked.id, { answer: 'approved' }, caller, true)
  assert.deepEqual([answer.status, (answer as JsonObject).result], ['done', [null, 2]], JSON.stringify(answer))
  assert.equal((await again.execute(code(`return await cap.add_up({ key: 'a' })`), caller)).status, 'failed')
})

test('what cannot be called is on the record and refused there: unknown, unverified, disabled, stale, demoted', async (t) => {
  const { verbs, runs, store } = await open(t)
  const pins = { tools: { 'fx:add': 'a digest' }, parametersSchema: addingSchema }
  for (const name of ['fine', 'off', 'old', 'bad']) await teach(store, name, adding, pins)
  await teach(store, 'new', adding, { ...pins, isVerified: false })
  const change = { why: 'because', who: 'test', from: 'cli' }
  await store.appendHome('capability.changed', { ...change, capability: 'off', status: 'disabled' })
  await store.appendHome('capability.changed', { ...change, capability: 'bad', status: 'demoted' })
  const text = `const said = []
    for (const name of args) { try { said.push(await cap[name]({ key: 'a', by: 'x' })) } catch (error) { said.push([error.code, error.message]) } }
    return said`
  const { run, result } = await runs(text, { args: ['none', 'no:name', 'new', 'off', 'bad', 'fine@7', 'fine'] })
  const said = result as [string, string][]
  const expected: [string, RegExp][] = [
    ['TOOL_NOT_FOUND', /no such capability; did you mean|discover/],
    ['TOOL_NOT_FOUND', /named cap:name or cap:name@2/],
    ['TOOL_NOT_FOUND', /not verified yet/],
    ['PERMISSION_DENIED', /disabled: because/],
    ['TOOL_NOT_FOUND', /demoted: because/],
    ['TOOL_NOT_FOUND', /only the versions 1/],
    ['INVALID_INPUT_PARAM', /by/],
  ]
  for (const [at, [wanted, pattern]] of expected.entries()) {
    assert.equal(said[at]![0], wanted, JSON.stringify(said[at]))
    assert.match(said[at]![1], pattern)
  }
  assert.deepEqual(
    issued(verbs, run).map(({ tool, definition }) => [tool, definition]),
    ['none', 'no:name', 'new', 'off', 'bad', 'fine@7', 'fine'].map((name) => [`cap:${name}`, null]),
  )
  assert.equal((await verbs.replay(String(run))).ok, true)
  await store.appendHome('tool.changed', { tool: 'fx:add', digest: 'another', diff: [] })
  const stale = await runs(`return await cap.fine({ key: 'a' })`)
  assert.equal((stale.error as JsonObject).code, 'TOOL_CHANGED', JSON.stringify(stale))
})

test('capabilities call capabilities, not themselves and not too deep', async (t) => {
  const { verbs, runs, store } = await open(t)
  await teach(store, 'one', `return [1, await cap.two()]`)
  await teach(store, 'two', `return [2, await cap.three()]`)
  await teach(store, 'three', `return [3, (await mcp.fx.read({ key: 'x' })).value]`)
  const nested = await runs(`return await cap.one()`)
  assert.deepEqual(nested.result, [1, [2, [3, null]]], JSON.stringify(nested))
  assert.equal(issued(verbs, nested.run).at(-1)!.call, '1.1.1.1')
  await teach(store, 'round', `return await cap.about()`)
  await teach(store, 'about', `return await cap.round()`)
  const cycle = (await runs(`return await cap.round()`)).error as JsonObject
  assert.match(String(cycle.message), /would call itself \(cap:round → cap:about → cap:round\)/)
  const plan = { implementation: { type: 'capability', id: 'cap:round' } }
  assert.match(String(((await verbs.execute(plan, caller)).error as JsonObject).message), /call itself/)
  for (let depth = 1; depth <= 5; depth++) await teach(store, `deep${depth}`, `return await cap.deep${depth + 1}()`)
  assert.match(String(((await runs(`return await cap.deep1()`)).error as JsonObject).message), /at most 4 deep/)
})

test('a dry run and an exploration go into capabilities without calling anything; a fork takes other arguments', async (t) => {
  const { space, verbs, runs, store } = await open(t)
  await teach(store, 'add_up', adding, { parametersSchema: addingSchema })
  const tasks = [{ id: 'one', tool: 'fx:read', arguments: { key: { $args: '/key' } } }]
  await teach(store, 'look', { type: 'dag', tasks }, { parametersSchema: schemaOf({ key: { type: 'string' } }) })
  const program = `const { value } = await cap.look({ key: 'a' }); return value ? 1 : await cap.add_up({ key: 'a', by: 5 })`
  const mocks = { tools: { 'fx:read': { value: null }, 'fx:add': { total: 7 } } }
  const dry = await runs(program, { mode: 'dry-run', mocks })
  assert.deepEqual([dry.status, dry.result], ['done', 7], JSON.stringify(dry))
  const explored = await runs(program, { mode: 'explore', mocks })
  assert.match(JSON.stringify(explored.result), /cap:add_up@1.*fx:add/)
  assert.equal(done(space, 'add').length, 0)
  const first = await runs(program)
  assert.equal(first.result, 5, JSON.stringify(first))
  const forked = await verbs.fork(String(first.run), 2, { key: 'b' }, caller)
  assert.deepEqual([forked.status, (forked as JsonObject).result], ['done', 1], JSON.stringify(forked))
  assert.equal((await verbs.replay(String((forked as JsonObject).run))).ok, true)
  assert.ok(verbs.store.run(first.run as RunId))
})
