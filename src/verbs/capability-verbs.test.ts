/** From runs to capabilities, through every real part: learned, verified, called, decided about. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Event, homeChain, type Json, type JsonObject } from '#model'
import { caller, done, openSpace, schemaOf, type TestVerbs, teach, workspace } from '#test'

const sum = (key: string, name: string, by = 2) =>
  `const ${name} = await mcp.fx.add({ key: '${key}', by: ${by} }) // ${key}\n  return { sum: ${name}.total }`
const read = (key: string) => `return (await mcp.fx.read({ key: '${key}' })).value`

const run = (verbs: TestVerbs, intent: string, code: string) =>
  verbs.execute({ intent, implementation: { type: 'code', code } }, caller)

/** Learning follows the record by itself: this only waits for it. */
type Looked<Value> = Value | undefined | false

async function until<Value>(look: () => Looked<Value> | Promise<Looked<Value>>): Promise<Value> {
  for (let tries = 0; tries < 600; tries++) {
    const found = await look()
    if (found) return found
    await pause(100)
  }
  assert.fail('what was waited for did not come')
}

const byName = (verbs: TestVerbs, id: string) => (verbs.capabilities() as JsonObject[]).find((one) => one.id === id)
const parametersOf = (verbs: TestVerbs, id: Json | undefined) =>
  Object.keys((verbs.capability(String(id)).parametersSchema as JsonObject).properties as object)
const verified = (verbs: TestVerbs, id: string) =>
  until(() => (byName(verbs, id)?.status === 'verified' ? byName(verbs, id) : undefined))

test('programs that differ in names and values become one verified capability, which can be called', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  for (const [at, key] of ['apples', 'pears', 'plums'].entries()) {
    const answer = await run(verbs, `Add up the stock of ${key}`, sum(key, `n${at}`, 2 + at))
    assert.equal(answer.status, 'done', JSON.stringify(answer))
  }
  const widest = () => verbs.capabilities('verified').find(({ id }) => parametersOf(verbs, id).length === 2)
  const listed = await until(() => widest() as JsonObject | undefined)
  assert.deepEqual([listed.id, listed.toolsUsed, listed.executionCount], ['cap:add_up_stock', ['fx:add'], 0])
  const shown = verbs.capability('cap:add_up_stock')
  const { parametersSchema, verifiedBy } = shown as { parametersSchema: JsonObject; verifiedBy: JsonObject }
  // The runs gave whole numbers: that the tool takes any is what its schema says.
  assert.deepEqual(parametersSchema.properties, { key: { type: 'string' }, by: { type: 'number' } })
  assert.deepEqual(parametersSchema.required, ['key', 'by'])
  assert.deepEqual(verifiedBy.how, ['rehearsed'])
  const called = await run(verbs, 'nothing of the kind', `return await cap.add_up_stock({ key: 'cherries', by: 2.5 })`)
  assert.deepEqual(called.result, { sum: 2.5 }, JSON.stringify(called))
  await until(() => byName(verbs, 'cap:add_up_stock')?.executionCount === 1)
  const invocations = verbs.capability('cap:add_up_stock').invocations as JsonObject[]
  assert.deepEqual([invocations[0]!.arguments, invocations[0]!.results], [{ key: 'cherries', by: 2.5 }, { sum: 2.5 }])
  const names = new Set(verbs.capabilities().map(({ id }) => id))
  assert.ok(names.size <= 2, [...names].join())
})

test('graphs that differ in values become one verified capability, which runs as a graph', async (t) => {
  const verbs = await openSpace(workspace(t))
  const restock = (key: string, by: number) => [
    { id: 'named', tool: 'fx:put', arguments: { key, value: 'in stock' } },
    { id: 'added', tool: 'fx:add', arguments: { key: { $from: 'named', path: '/key' }, by } },
  ]
  for (const [at, key] of ['apples', 'pears', 'plums'].entries()) {
    const implementation = { type: 'dag', tasks: restock(key, 2 + at) } as const
    const answer = await verbs.execute({ intent: `Restock ${key}`, implementation }, caller)
    assert.equal(answer.status, 'done', JSON.stringify(answer))
  }
  const isWhole = ({ id }: JsonObject) => parametersOf(verbs, id).length === 2
  const listed = await until(() => (verbs.capabilities('verified') as JsonObject[]).find(isWhole))
  const { source, parametersSchema } = verbs.capability(String(listed.id)) as Record<string, JsonObject>
  assert.equal(source!.type, 'dag')
  assert.deepEqual(parametersSchema!.properties, { by: { type: 'number' }, key: { type: 'string' } })
  const implementation = { type: 'capability', id: String(listed.id) } as const
  const answer = await verbs.execute({ implementation, args: { key: 'cherries', by: 1.5 } }, caller)
  assert.equal(answer.status, 'done', JSON.stringify(answer))
  assert.deepEqual(answer.result, { key: 'cherries', total: 1.5 })
})

const onboard = (who: string, priority: number) => `
  const { missionID } = await mcp.metier.create_mission({ name: "Onboard ${who}", description: "onboarding of ${who}" })
  const { taskID } = await mcp.metier.create_task_node({ parentNodeID: missionID, description: "account of ${who}" })
  return (await mcp.metier.update_task({ taskID, priority: ${priority} })).task.priority`

test('a value inside of texts is one parameter, which the next intent binds', async (t) => {
  const verbs = await openSpace(workspace(t))
  const people: [string, number][] = [
    ['Ada', 3],
    ['Bob', 4],
    ['Cleo', 5],
  ]
  for (const [who, priority] of people) {
    const answer = await run(verbs, `onboard ${who} with priority ${priority}`, onboard(who, priority))
    assert.equal(answer.status, 'done', JSON.stringify(answer))
  }
  const listed = await until(() => verbs.capabilities('verified').find(({ id }) => id === 'cap:onboard_priority'))
  const parameters = () => verbs.capability(String(listed.id)).parametersSchema as JsonObject
  await until(() => Object.keys(parameters().properties as object).length === 2)
  assert.deepEqual(parameters().properties, { priority: { type: 'integer' }, name: { type: 'string' } })
  const args = { priority: 7, name: 'Dora' }
  const suggested = async () =>
    (await verbs.execute({ intent: 'onboard Dora with priority 7' }, caller)).suggestion?.capability
  // What is suggested follows the record a moment after it.
  const bound = await until(async () => {
    const found = await suggested()
    return found?.missing.length === 0 && Object.keys(found.args).length === 2 && found
  })
  assert.deepEqual(bound, { id: listed.id, args, missing: [] })
  const used = await verbs.execute({ implementation: { type: 'capability', id: listed.id }, args }, caller)
  assert.equal(used.result, 7, JSON.stringify(used))
})

test('a use of a capability teaches no other, and what nobody caught teaches none', async (t) => {
  const verbs = await openSpace(workspace(t))
  await run(verbs, 'Look up the colour of apples', read('apples'))
  const { id } = (await until(() => verbs.capabilities('verified')[0])) as { id: string }
  for (const key of ['apples', 'pears', 'plums', 'figs']) {
    const plan = { intent: `Look up the colour of ${key}`, implementation: { type: 'capability', id }, args: { key } }
    assert.equal((await verbs.execute(plan, caller)).status, 'done')
    await run(verbs, `Find the tint of ${key}`, `return await cap['${id.slice(4)}']({ key: '${key}' })`)
  }
  const forgetful = `mcp.fx.no_such({}); mcp.fx.fail({}); return (await mcp.fx.read({ key: 'salt' })).value`
  await run(verbs, 'Forget about a failure', forgetful)
  await run(verbs, 'Weigh the salt', `return [(await mcp.fx.read({ key: 'salt' })).value]`)
  await until(() => byName(verbs, 'cap:weigh'))
  const learned = verbs.capabilities().map((one) => [one.id, one.version])
  assert.deepEqual(learned, [
    [id, 1],
    ['cap:weigh', 1],
  ])
})

test('a capability is exported, imported elsewhere as a candidate, disabled, enabled and forgotten for good', async (t) => {
  const [space, other] = [workspace(t), workspace(t)]
  const [verbs, elsewhere] = [await openSpace(space), await openSpace(other)]
  await run(verbs, 'Look up the colour of apples', read('apples'))
  const { id } = (await until(() => verbs.capabilities('verified')[0] as JsonObject)) as { id: string }
  const file = verbs.exportCapability(id) as JsonObject
  assert.equal((file.fixtures as Json[]).length, 1)
  const imported = await elsewhere.importCapability(file)
  assert.equal(imported.status, 'candidate')
  assert.equal(((await elsewhere.verifyCapability(id)) as JsonObject).ok, false)
  await assert.rejects(elsewhere.importCapability({ ...file, source: { type: 'code', code: 'return 1' } }), {
    code: 'INVALID_INPUT_PARAM',
  })
  await run(elsewhere, 'Look up the colour of pears', read('pears'))
  await until(() => elsewhere.capabilities().some(({ status }) => status !== 'candidate') || undefined)
  const call = `return await cap['${id.slice(4)}']({ key: 'pears' })`
  await verbs.decideCapability(id, 'disabled', caller)
  assert.equal(((await run(verbs, 'x', call)).error as JsonObject).code, 'PERMISSION_DENIED')
  await verbs.decideCapability(id, 'enabled', caller)
  assert.equal((await run(verbs, 'x', call)).status, 'done')
  await verbs.decideCapability(id, 'forgotten', caller)
  await run(verbs, 'Look up the colour of cherries', read('cherries'))
  await pause(1500)
  assert.equal(byName(verbs, id), undefined)
})

test('a changed tool makes a capability stale until it is verified again; failures demote it', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  await run(verbs, 'Add up the stock of apples', sum('apples', 'n'))
  await verified(verbs, 'cap:add_up_stock')
  await verbs.close()
  const text = readFileSync(space.file, 'utf8')
  writeFileSync(space.file, text.replace('"EFFECTS"', '"SAYS":"Add, in other words.","EFFECTS"'))
  const again = await openSpace(space)
  const [tool] = await again.toAccept('fx:add')
  await again.accept(tool!, caller)
  assert.equal(byName(again, 'cap:add_up_stock')!.status, 'stale')
  const checked = (await again.verifyCapability('cap:add_up_stock')) as JsonObject
  assert.equal(checked.ok, true, JSON.stringify(checked))
  assert.equal(byName(again, 'cap:add_up_stock')!.status, 'verified')
  const failing = `try { await cap.add_up_stock({ key: 'x' }) } catch { return 'failed' }`
  for (let time = 0; time < 4; time++) {
    const code = failing
    await again.execute({ intent: 'x', implementation: { type: 'code', code }, budget: { calls: 1 } }, caller)
  }
  await until(() => byName(again, 'cap:add_up_stock')?.status === 'demoted')
  assert.match(String(byName(again, 'cap:add_up_stock')!.reason), /failed \d of \d times/)
})

test('a process that ends while it verifies says nothing of a capability, and the next one verifies it', async (t) => {
  const space = workspace(t, { config: { learn: { enabled: false } } })
  const asleep = await openSpace(space)
  const habits = ['weigh', 'count', 'price', 'order', 'label', 'store', 'clean', 'taste']
  for (const [at, verb] of habits.entries()) {
    const code = `const all = []; ${'all.push(1);'.repeat(at)} ${read('salt')}`
    assert.equal((await run(asleep, `${verb} the apples`, code)).status, 'done')
  }
  await asleep.close()
  const { learn: _, ...config } = JSON.parse(readFileSync(space.file, 'utf8'))
  writeFileSync(space.file, JSON.stringify(config))
  // Each of these learns for half a second at its end, and is closed in the middle of some check.
  for (let life = 0; life < 4; life++) await (await openSpace(space)).close()
  const verbs = await openSpace(space)
  const all = () => verbs.capabilities()
  await until(() => all().length === habits.length && !all().some((one) => one.status === 'candidate' && !one.reason))
  const left = all().flatMap(({ id, status, reason }) => (status === 'verified' ? [] : `${id} ${status}: ${reason}`))
  assert.deepEqual(left, [])
})

test('a capability that does not do what its runs did, call for call and to the same end, is not verified', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  await run(verbs, 'Add up the stock of apples', sum('apples', 'n'))
  const { id } = await verified(verbs, 'cap:add_up_stock')!
  const [learned] = verbs.store.events(homeChain, { type: 'capability.learned' }) as Event<'capability.learned'>[]
  const { shape, runs, parametersSchema, lifted, tools } = learned!.body
  const added = done(space, 'add').length
  const checked = async (name: string, code: string) => {
    await teach(verbs.store, name, code, { shape, runs, parametersSchema, lifted: lifted!, tools, isVerified: false })
    return verbs.verifyCapability(`cap:${name}`) as Promise<{ ok: boolean; why: string | null }>
  }
  const add = (args: string) => `const n = await mcp.fx.add({ ${args} })`
  const whole = 'key: args.key, by: 2'
  const same = await checked('other_order', `${add('by: 2, key: args.key')}; return { sum: n.total }`)
  assert.deepEqual([same.ok, same.why], [true, null], String(id))
  const wrong = {
    other_value: `${add('key: args.key, by: 3')}; return { sum: n.total }`,
    other_result: `${add(whole)}; return { sum: n.total + 1 }`,
    no_result: add(whole),
    one_call_more: `${add(whole)}; await mcp.fx.read({ key: 'x' }); return { sum: n.total }`,
    one_call_less: 'return { sum: 2 }',
    other_tool: `const n = await mcp.fx.put({ ${whole} }); return { sum: 2 }`,
    failure: `${add(whole)}; throw new Error('no')`,
  }
  for (const [name, code] of Object.entries(wrong)) {
    const { ok, why } = await checked(name, code)
    assert.equal(ok, false, name)
    assert.match(why ?? '', new RegExp(`rehearsed against run ${runs[0]}`), name)
    assert.equal(byName(verbs, `cap:${name}`)!.status, 'candidate')
  }
  assert.equal(done(space, 'add').length, added, 'nothing was called')
})

test('a program that returns nothing is verified like any', async (t) => {
  const verbs = await openSpace(workspace(t))
  await run(verbs, 'Add to the stock of apples', `await mcp.fx.add({ key: 'apples', by: 2 })`)
  await verified(verbs, 'cap:add_stock')
})

test('what another process has only rehearsed is executed once by the gateway, where it only reads', async (t) => {
  const verbs = await openSpace(workspace(t))
  await run(verbs, 'Read the stock of apples', read('apples'))
  const howOf = (id: string) => (verbs.capability(id).verifiedBy as { how: string[] } | null)?.how.join()
  const { id } = await until(() => verbs.capabilities('verified')[0] as { id: string } | undefined)
  assert.equal(howOf(id), 'rehearsed')
  const withdraw = verbs.announceGateway('http://127.0.0.1:1', false)
  await run(verbs, 'Add up the stock of pears', sum('pears', 'pears'))
  await until(() => howOf(id) === 'rehearsed,executed')
  withdraw()
})

/** Another process of the home, in which the server says something else of its tools. */
async function reopened(space: ReturnType<typeof workspace>, verbs: TestVerbs, env: string) {
  await verbs.close()
  const text = readFileSync(space.file, 'utf8')
  writeFileSync(space.file, text.replace('"EFFECTS"', `${env},"EFFECTS"`))
  return openSpace(space)
}

test('serve verifies a capability again by itself once its changed tool was accepted, and not before', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  await run(verbs, 'Add up the stock of apples', sum('apples', 'n'))
  await verified(verbs, 'cap:add_up_stock')
  const again = await reopened(space, verbs, '"SAYS":"Add, in other words."')
  const withdraw = again.announceGateway('http://127.0.0.1:1', false)
  const [tool] = await again.toAccept('fx:add')
  await until(() => byName(again, 'cap:add_up_stock')!.status === 'stale')
  // What closes meanwhile makes it look again: the change is not accepted yet.
  await run(again, 'Look up the colour of pears', read('pears'))
  await until(() => again.capabilities('verified').length === 1)
  await pause(1000)
  assert.deepEqual(
    [byName(again, 'cap:add_up_stock')!.status, byName(again, 'cap:add_up_stock')!.reason],
    ['stale', 'the tool fx:add changed'],
  )
  await again.accept(tool!, caller)
  await verified(again, 'cap:add_up_stock')
  const { tools } = again.capability('cap:add_up_stock') as { tools: JsonObject }
  assert.equal(tools['fx:add'], tool!.digest)
  assert.deepEqual((await run(again, 'x', `return await cap.add_up_stock({ key: 'figs' })`)).result, { sum: 2 })
  withdraw()
})

test('a capability is as stale as one that it calls, calls the version it was verified with, and comes back with it', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const withdraw = verbs.announceGateway('http://127.0.0.1:1', false)
  await run(verbs, 'Add up the stock of apples', sum('apples', 'n'))
  await verified(verbs, 'cap:add_up_stock')
  const report = (key: string) =>
    `const { sum } = await cap.add_up_stock({ key: '${key}' })\n  return [sum, (await mcp.fx.read({ key: '${key}' })).value]`
  await run(verbs, 'Report on pears', report('pears'))
  const { id } = await until(() => verbs.capabilities('verified').find((one) => String(one.id).includes('report')))
  const one = () => verbs.capability(String(id)) as { status: string; reason: string; tools: JsonObject }
  assert.ok('cap:add_up_stock@1' in one().tools)
  const use = () => run(verbs, 'x', `return await cap['${String(id).slice(4)}']({ key: 'pears' })`)
  // A newer version of what it calls changes nothing of what it does.
  const { source } = verbs.capability('cap:add_up_stock') as { source: { code: string } }
  await teach(verbs.store, 'add_up_stock', source.code.replace('by: 2', 'by: 100'), {
    version: 2,
    parametersSchema: schemaOf({ key: { type: 'string' } }),
  })
  await until(() => (verbs.capability('cap:add_up_stock@1') as { status: string }).status === 'demoted')
  assert.equal(((await use()).result as Json[])[0], 4, 'two more pears')
  const lost = { why: 'test', who: 'test', from: 'cli', capability: 'add_up_stock', version: 1 } as const
  await verbs.store.appendHome('capability.changed', { ...lost, status: 'disabled' })
  assert.deepEqual([one().status, one().reason], ['stale', 'cap:add_up_stock@1, which it calls, is disabled'])
  assert.equal(((await use()).error as JsonObject).code, 'TOOL_CHANGED')
  const byHand = (await verbs.verifyCapability(String(id))) as JsonObject
  assert.deepEqual([byHand.ok, byHand.why], [false, 'cap:add_up_stock@1 is disabled'])
  await verbs.store.appendHome('capability.changed', { ...lost, status: 'enabled' })
  await until(() => one().status === 'verified')
  await verbs.decideCapability('cap:add_up_stock', 'forgotten', caller)
  assert.match(one().reason, /cap:add_up_stock@1, which it calls, is forgotten/)
  withdraw()
})
