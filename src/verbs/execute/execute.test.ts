/** Runs with every real part in place: questions, doubts, cancels, budgets, keys and secrets. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventType, JsonObject, RunId } from '#model'
import { caller, done, effects, openSpace, root, workspace } from '#test'
import type { Settlement, Verbs } from '#verbs'

const code = (text: string) => ({ implementation: { type: 'code', code: text } })
const run = (verbs: Verbs, text: string, more: object = {}) => verbs.execute({ ...code(text), ...more }, caller)
const asking = { policy: { permissions: 'standard', rules: [] } }
const types = (verbs: Verbs, id: unknown): EventType[] => verbs.eventsOf(id as RunId).map(({ type }) => type)

async function open(t: TestContext, config: object = {}) {
  const space = workspace(t, { config })
  return { space, verbs: await openSpace(space) }
}

function question(answer: JsonObject) {
  assert.equal(answer.status, 'approval_required', JSON.stringify(answer))
  return (answer.approvals as { id: string; tool: string; args: JsonObject; call: string }[])[0]!
}

test('execute() suspends at a question, without a process, and goes on by replay when it is approved', async (t) => {
  const { space, verbs } = await open(t, asking)
  const program = `const before = await mcp.fx.read({ key: 'x' }); const { total } = await mcp.fx.add({ key: 'x', by: 2 }); return [before.value, total]`
  const asked = await run(verbs, program)
  const { id, tool, args } = question(asked)
  assert.deepEqual([tool, args], ['fx:add', { key: 'x', by: 2 }])
  assert.equal(done(space, 'add').length, 0)
  assert.equal(verbs.store.run(asked.run as RunId)?.owner, null)
  const answer = await verbs.decide(id, { answer: 'approved' }, caller, true)
  assert.deepEqual([answer.status, answer.result], ['done', [null, 2]])
  assert.equal(done(space, 'add').length, 1)
  assert.ok(types(verbs, asked.run).includes('approval.answered'))
  await assert.rejects(verbs.decide(id, { answer: 'approved' }, caller, true), { code: 'INVALID_INPUT_PARAM' })
})

test('decide() turns a yes into a line of policy, for the rest of the run or for good, which never beats the file', async (t) => {
  const { verbs } = await open(t, { policy: { permissions: 'standard', rules: [{ tool: 'fx:pay', then: 'ask' }] } })
  const program = `const all = await Promise.all([1, 2].map((by) => mcp.fx.add({ key: 'k' + by, by }))); return [...all, await mcp.fx.add({ key: 'k3', by: 3 })].map((one) => one.total)`
  const first = await run(verbs, program)
  const answer = await verbs.decide(question(first).id, { answer: 'approved', scope: 'run' }, caller, true)
  assert.deepEqual([answer.status, answer.result], ['done', [1, 2, 3]], JSON.stringify(answer))
  const second = await run(verbs, `return (await mcp.fx.add({ key: 'z', by: 1 })).total`)
  await verbs.decide(question(second).id, { answer: 'approved', scope: 'always' }, caller, true)
  assert.equal((await run(verbs, `return (await mcp.fx.add({ key: 'y', by: 4 })).total`)).result, 4)
  const pay = `return (await mcp.fx.pay({ account: 'a', amount: 1 })).amount`
  await verbs.decide(question(await run(verbs, pay)).id, { answer: 'approved', scope: 'always' }, caller, true)
  assert.equal(question(await run(verbs, pay)).tool, 'fx:pay', 'a line of the file comes first')
})

test('execute() throws a denial in the program, which may handle it', async (t) => {
  const { space, verbs } = await open(t, asking)
  const program = `try { await mcp.fx.add({ key: 'x', by: 2 }) } catch (error) { return [error.name, error.code, error.tool] }`
  const { id } = question(await run(verbs, program))
  const answer = await verbs.decide(id, { answer: 'denied', reason: 'not today', scope: 'always' }, caller, true)
  assert.deepEqual(answer.result, ['ToolError', 'APPROVAL_DENIED', 'fx:add'])
  assert.equal(
    question(await run(verbs, program)).tool,
    'fx:add',
    'a no lets nothing pass, however long it is meant for',
  )
  assert.equal(effects(space).length, 0)
})

test('execute() sends the arguments that a human edited, and checks them again', async (t) => {
  const rules = [{ tool: 'fx:add', args: { '/key': 'forbidden' }, then: 'deny' }]
  const { space, verbs } = await open(t, { policy: { permissions: 'standard', rules } })
  const first = question(await run(verbs, `return await mcp.fx.add({ key: 'x', by: 2 })`))
  const answer = await verbs.decide(first.id, { answer: 'approved', args: { key: 'x', by: 7 } }, caller, true)
  assert.deepEqual(answer.result, { key: 'x', total: 7 })
  const second = question(await run(verbs, `return await mcp.fx.add({ key: 'y', by: 2 })`))
  const edit = (args: JsonObject) => verbs.decide(second.id, { answer: 'approved', args }, caller, true)
  await assert.rejects(edit({ key: 'y', by: 'many' }), { code: 'INVALID_INPUT_PARAM' })
  await assert.rejects(edit({ key: 'forbidden', by: 3 }), { code: 'PERMISSION_DENIED' })
  assert.deepEqual((await edit({ key: 'y', by: 3 })).result, { key: 'y', total: 3 })
  assert.deepEqual(
    done(space, 'add').map(({ args }) => args.by),
    [7, 3],
  )
})

test('execute() shows what was sent of a call in doubt, where a human had edited it', async (t) => {
  const { verbs } = await open(t, asking)
  const tasks = [{ id: 'a', tool: 'fx:add', arguments: { key: 'x', by: 2 }, timeoutMs: 100 }]
  const { id } = question(await verbs.execute({ implementation: { type: 'dag', tasks } }, caller))
  const edited = { key: 'y', by: 3, ms: 500 }
  const answer = await verbs.decide(id, { answer: 'approved', args: edited }, caller, true)
  assert.equal(answer.status, 'uncertain')
  assert.deepEqual((answer.calls as JsonObject[])[0]!.args, edited)
  const [shown] = (await verbs.run(String(answer.run))).calls as JsonObject[]
  assert.deepEqual([shown!.args, shown!.edited], [{ key: 'x', by: 2 }, edited])
})

test('execute() lets other calls go on while one waits for a human', async (t) => {
  const { space, verbs } = await open(t, asking)
  const program = `const [a, b] = await Promise.all([mcp.fx.add({ key: 'q', by: 1 }), mcp.fx.put({ key: 'free', value: 1 })]); return [a.total, b.key]`
  const { id } = question(await run(verbs, program))
  assert.equal(done(space, 'put').length, 1)
  const answer = await verbs.decide(id, { answer: 'approved' }, caller, true)
  assert.deepEqual(answer.result, [1, 'free'])
  assert.equal(done(space, 'put').length, 1, 'what was answered before the question is not called again')
})

test('execute() leaves an unsafe call whose server died in doubt, and a human settles it', async (t) => {
  const { space, verbs } = await open(t)
  const program = `await mcp.fx.add({ key: 'before', by: 1 }); const pending = mcp.fx.add({ key: 'x', by: 1, ms: 5000 }); await mcp.fx.wait({ ms: 50 }); try { await mcp.fx.die({}) } catch {} return (await pending).total`
  const answer = await run(verbs, program)
  assert.equal(answer.status, 'uncertain', JSON.stringify(answer))
  assert.deepEqual(
    (answer.calls as JsonObject[]).map(({ call, tool }) => [call, tool]),
    [['2', 'fx:add']],
    'only what is in doubt',
  )
  const settle = (call: string, settling: Settlement) => verbs.settle(String(answer.run), call, settling, caller, true)
  for (const call of ['1', '3', '9']) {
    await assert.rejects(settle(call, { how: 'again' }), { code: 'INVALID_INPUT_PARAM' }, `call ${call}`)
  }
  const settled = await settle('2', { how: 'done', value: { total: 41 } })
  assert.deepEqual([settled.status, settled.result], ['done', 41])
  assert.equal(effects(space).filter(({ args, phase }) => args.key === 'x' && phase === 'begun').length, 1)
  await assert.rejects(settle('2', { how: 'again' }), { code: 'INVALID_INPUT_PARAM' })
})

/** Calls with what is no JSON, and under what is no name. */
const unsayable = `const cycle = {}; cycle.cycle = cycle; const codes = []
  for (const call of [() => mcp.fx.add(1n), () => mcp.fx.add(cycle), () => tool(5, {}), () => tool('metier:timer', { ms: 1 })]) {
    try { await call() } catch (error) { codes.push(error.code) }
  } return codes`

test('execute() refuses on the record what may not or cannot be called', async (t) => {
  const { space, verbs } = await open(t, { policy: { permissions: 'minimal', rules: [] } })
  const names = ['fx:add', 'fx:nothing', 'no:where', 'plain']
  const program = `const codes = []; for (const name of ${JSON.stringify(names)}) { try { await tool(name, { key: 'x', by: 1 }) } catch (error) { codes.push(error.code) } } return codes`
  const answer = await run(verbs, program)
  assert.deepEqual(answer.result, ['PERMISSION_DENIED', 'TOOL_NOT_FOUND', 'TOOL_NOT_FOUND', 'TOOL_NOT_FOUND'])
  assert.equal(types(verbs, answer.run).filter((type) => type === 'call.issued').length, 4)
  const unsaid = await run(verbs, unsayable)
  assert.deepEqual(unsaid.result, Array(4).fill('INVALID_INPUT_PARAM'))
  const shown = (await verbs.run(String(unsaid.run))).calls as JsonObject[]
  assert.deepEqual(
    shown.map(({ tool, args, outcome }) => [tool, args, outcome]),
    ['fx:add', 'fx:add', 'number', 'metier:timer'].map((tool) => [tool, null, 'refused']),
  )
  assert.equal((await verbs.replay(String(unsaid.run))).ok, true)
  assert.equal(effects(space).length, 0)
})

test('execute() narrows permissions and budget to what is asked, never wider', async (t) => {
  const { verbs } = await open(t, { policy: { permissions: 'minimal', rules: [] }, budget: { calls: 2 } })
  const wide = await run(
    verbs,
    `try { await mcp.fx.put({ key: 'x', value: 1 }) } catch (error) { return error.code }`,
    { permissions: 'privileged', budget: { calls: 99 } },
  )
  assert.equal(wide.result, 'PERMISSION_DENIED')
  const spent = await run(
    verbs,
    `const codes = []; for (let i = 0; i < 3; i++) { try { codes.push((await mcp.fx.read({ key: 'x' })).value) } catch (error) { codes.push(error.code) } } return codes`,
    { budget: { calls: 99 } },
  )
  assert.deepEqual(spent.result, [null, null, 'BUDGET_EXCEEDED'])
  const { verbs: wider } = await open(t, asking)
  const narrowed = await run(
    wider,
    `const codes = []; for (const name of ['put', 'read', 'read']) { try { await tool('fx:' + name, { key: 'x', value: 1 }); codes.push(name) } catch (error) { codes.push(error.code) } } return codes`,
    { permissions: 'minimal', budget: { calls: 2 } },
  )
  assert.deepEqual(narrowed.result, ['PERMISSION_DENIED', 'read', 'BUDGET_EXCEEDED'])
})

test('execute() ends a run that is out of time, and one that waits for nothing', async (t) => {
  const { verbs } = await open(t, { budget: { wallMs: 300 } })
  const late = await run(verbs, 'await sleep(60000)')
  assert.deepEqual([late.status, (late.error as JsonObject).code], ['failed', 'BUDGET_EXCEEDED'])
  const stalled = await run(verbs, 'await new Promise(() => {})')
  assert.deepEqual([stalled.status, (stalled.error as JsonObject).code], ['failed', 'PROGRAM_STALLED'])
})

test('execute() cancels the run when its request is cancelled, and awaits what cannot be taken back', async (t) => {
  const { space, verbs } = await open(t)
  const stop = new AbortController()
  const program = `mcp.fx.wait({ ms: 60000 }); await mcp.fx.add({ key: 'x', by: 1, ms: 300 }); await mcp.fx.add({ key: 'y', by: 1 })`
  const pending = verbs.execute(code(program), { ...caller, signal: stop.signal })
  while (!effects(space).some(({ tool }) => tool === 'add')) await pause(10)
  stop.abort()
  const answer = await pending
  assert.equal(answer.status, 'cancelled')
  assert.deepEqual(
    done(space, 'add').map(({ args }) => args.key),
    ['x'],
  )
  const outcomes = verbs
    .eventsOf(answer.run as RunId)
    .flatMap((event) => (event.type === 'call.resolved' ? [[event.body.call, event.body.outcome]] : []))
  assert.deepEqual(outcomes.sort(), [
    ['1', 'cancelled'],
    ['2', 'answered'],
  ])
})

test('execute() answers "running" when the wait is over; the run goes on, can be asked for and cancelled', async (t) => {
  const { verbs } = await open(t)
  const answer = await verbs.execute({ ...code('await sleep(600000); return 5'), wait: 0 }, caller)
  assert.equal(answer.status, 'running')
  const result = await verbs.result({ run: answer.run }, caller)
  assert.deepEqual([result.status, result.value], ['running', null])
  const again = verbs.execute({ resume: answer.run as string }, caller)
  assert.equal((await verbs.cancel(String(answer.run), caller, 'enough')).status, 'cancelled')
  assert.equal((await again).status, 'cancelled')
})

test('execute() gives the same run for the same key, also when two requests meet', async (t) => {
  const { space, verbs } = await open(t)
  const request = () => run(verbs, `return (await mcp.fx.add({ key: 'k', by: 1, ms: 50 })).total`, { key: 'once' })
  const answers = await Promise.all([request(), request()])
  answers.push(await request())
  assert.equal(new Set(answers.map((answer) => answer.run)).size, 1)
  assert.deepEqual(
    answers.map(({ status, result }) => [status, result]),
    Array(3).fill(['done', 1]),
  )
  assert.equal(done(space, 'add').length, 1)
})

test('execute() keeps secrets out of the program and the record, and gives them back to their server', async (t) => {
  const secret = 'sk-abcdefghijklmnopqrstuvwx'
  const { space, verbs } = await open(t, { record: { secrets: ['sk-[a-z]{20,}'] } })
  await verbs.tools()
  const first = await run(verbs, `await mcp.fx.put({ key: 'token', value: args.token }); return 1`, {
    args: { token: secret },
  })
  const { id } = question(first)
  await verbs.decide(id, { answer: 'approved' }, caller, true)
  assert.equal(done(space, 'put')[0]?.args.value, secret, 'the server got the true value')
  const second = await run(
    verbs,
    `const { value } = await mcp.fx.read({ key: 'token' }); await mcp.fx.put({ key: 'copy', value: 'Bearer ' + value }); return value`,
  )
  assert.equal(second.status, 'done', JSON.stringify(second))
  assert.match(String(second.result), /^«secret:[0-9a-f]+»$/)
  assert.equal(done(space, 'put')[1]?.args.value, `Bearer ${secret}`, 'also inside a longer text')
  const typed = 'sk-zyxwvutsrqponmlkjihgfe'
  const third = await run(verbs, `await mcp.fx.put({ key: 'token', value: args.token }); return 1`, {
    args: { token: secret },
  })
  const edit = { answer: 'approved' as const, args: { key: 'typed', value: typed } }
  assert.equal((await verbs.decide(question(third).id, edit, caller, true)).status, 'done')
  assert.equal(done(space, 'put').at(-1)?.args.value, typed, 'also what a human typed')
  await verbs.close()
  const database = readFileSync(`${space.home}/metier.db`)
  for (const one of [secret, typed]) assert.ok(!database.includes(one))
})

test('no secret that a human types to settle, to deny or to cancel stands in the record', async (t) => {
  const rules = ['ask', 'allow'].map((then) => ({ tool: then === 'ask' ? 'fx:pay' : 'fx:*', then }))
  const { space, verbs } = await open(t, { policy: { rules }, record: { secrets: ['sk-[a-z]{20,}'] } })
  const secrets = ['settled', 'denied', 'cancelled'].map((word) => `sk-${word.repeat(4)}`)
  const doubt = `const pending = mcp.fx.add({ key: 'x', by: 1, ms: 5000 }); await mcp.fx.wait({ ms: 50 }); try { await mcp.fx.die({}) } catch {}
                 const { token } = await pending; await mcp.fx.put({ key: 'token', value: token }); return token`
  const { run: id } = await run(verbs, doubt)
  const settled = await verbs.settle(String(id), '1', { how: 'done', value: { token: secrets[0]! } }, caller, true)
  assert.match(String(settled.result), /^«secret:[0-9a-f]+»$/)
  assert.equal(done(space, 'put')[0]?.args.value, secrets[0], 'the server that it came from gets the true value')
  const pay = `try { await mcp.fx.pay({ account: 'a', amount: 1 }) } catch (error) { return error.message }`
  const denial = { answer: 'denied' as const, reason: `not with ${secrets[1]}` }
  const denied = await verbs.decide(question(await run(verbs, pay)).id, denial, caller, true)
  assert.match(String(denied.result), /said no: not with «secret:[0-9a-f]+»$/)
  const cancelled = await verbs.cancel(String((await run(verbs, pay)).run), caller, `because of ${secrets[2]}`)
  assert.match((cancelled.error as { message: string }).message, /: because of «secret:[0-9a-f]+»$/)
  await verbs.close()
  const database = readFileSync(`${space.home}/metier.db`)
  for (const one of secrets) assert.ok(!database.includes(one), one)
})

test('settle() gives a program the placeholder that a human saw and typed, as it was', async (t) => {
  const { verbs } = await open(t, { record: { secrets: ['sk-[a-z]{20,}'] } })
  const program = `await mcp.fx.put({ key: 't', value: 'sk-' + 'a'.repeat(24) }); const { value } = await mcp.fx.read({ key: 't' })
                   const pending = mcp.fx.add({ key: value, by: 1, ms: 5000 }); await mcp.fx.wait({ ms: 50 }); try { await mcp.fx.die({}) } catch {}
                   return (await pending).key === value`
  const { run: id, calls } = await run(verbs, program)
  const [{ call, args }] = calls as unknown as [{ call: string; args: JsonObject }]
  const settled = await verbs.settle(String(id), call, { how: 'done', value: { key: args.key! } }, caller, true)
  assert.equal(settled.result, true)
})

test('execute() runs a program as a task of a graph, with numbers and a box of its own', async (t) => {
  const { space, verbs } = await open(t, asking)
  const tasks = [
    { id: 'get', tool: 'fx:read', arguments: { key: 'none' } },
    {
      id: 'work',
      type: 'code_execution',
      code: `const { total } = await mcp.fx.add({ key: args.name, by: 2 }); await sleep(1); return { total, was: args.was }`,
      arguments: { name: 'nested', was: { $from: 'get', path: '/value' } },
    },
    { id: 'last', tool: 'fx:put', arguments: { key: 'z', value: { $from: 'work', path: '/total' } } },
  ]
  const asked = await verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  assert.equal(question(asked).call, '2.1')
  const answer = await verbs.decide(question(asked).id, { answer: 'approved' }, caller, true)
  assert.deepEqual([answer.status, answer.result], ['done', { key: 'z' }], JSON.stringify(answer))
  assert.deepEqual(
    done(space, 'put').map(({ args }) => args.value),
    [2],
  )
  const calls = ((await verbs.run(String(answer.run))).calls as JsonObject[]).map(({ call, tool }) => [call, tool])
  assert.deepEqual(calls, [
    ['1', 'fx:read'],
    ['2', 'metier:program'],
    ['2.1', 'fx:add'],
    ['2.2', 'metier:timer'],
    ['3', 'fx:put'],
  ])
})

test('execute() fails a graph whose program throws or stalls, and refuses one that cannot be read', async (t) => {
  const { verbs } = await open(t)
  const graph = (text: string) => ({
    implementation: { type: 'dag', tasks: [{ id: 'work', type: 'code_execution', code: text }] },
  })
  const thrown = await verbs.execute(graph('throw new Error("oh")'), caller)
  assert.deepEqual([thrown.status, (thrown.error as JsonObject).code], ['failed', 'PROGRAM_ERROR'])
  const stalled = await verbs.execute(graph('await new Promise(() => {})'), caller)
  assert.deepEqual([stalled.status, (stalled.error as JsonObject).code], ['failed', 'PROGRAM_STALLED'])
  await assert.rejects(verbs.execute(graph('return ('), caller), { code: 'PLAN_INVALID' })
})

test('execute() asks where a task says that it has side effects, though the policy allows it', async (t) => {
  const { verbs } = await open(t)
  const tasks = [{ id: 'put', tool: 'fx:put', arguments: { key: 'a', value: 1 }, sideEffects: true }]
  const asked = await verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  assert.equal(question(asked).tool, 'fx:put')
})

test('fork() reuses what came before, gives the call other arguments, and makes the rest anew', async (t) => {
  const { space, verbs } = await open(t)
  const program = `const one = await mcp.fx.add({ key: 'one', by: 1 }); const two = await mcp.fx.add({ key: 'two', by: one.total }); return (await mcp.fx.add({ key: 'three', by: two.total })).total`
  const first = await run(verbs, program)
  assert.equal(first.result, 1)
  const forked = await verbs.fork(String(first.run), 2, { key: 'other', by: 10 }, caller)
  assert.deepEqual([forked.status, forked.result], ['done', 11], JSON.stringify(forked))
  assert.deepEqual(
    done(space, 'add').map(({ args }) => [args.key, args.by]),
    [
      ['one', 1],
      ['two', 1],
      ['three', 1],
      ['other', 10],
      ['three', 10],
    ],
  )
  assert.equal(verbs.eventsOf(forked.run as RunId)[0]!.type, 'run.started')
  assert.deepEqual(await verbs.replay(String(forked.run)), { ok: true, run: forked.run, calls: 3 })
  await assert.rejects(verbs.fork(String(first.run), 4, undefined, caller), { code: 'INVALID_INPUT_PARAM' })
})

test('a run that was purged is told from one that never was', async (t) => {
  const { verbs } = await open(t)
  const { run: id } = await run(verbs, `return 1`)
  await verbs.store.purge(id as RunId, { who: 'test', from: 'cli' })
  const purged = { code: 'RUN_PURGED' }
  await assert.rejects(verbs.result({ run: id }, caller), purged)
  await assert.rejects(verbs.resume(String(id), caller), purged)
  assert.throws(() => verbs.lines(String(id)), purged)
  await assert.rejects(verbs.run('01a1e5a1-d98b-7b34-a4bc-432b8957b190'), { code: 'RUN_NOT_FOUND' })
})

test('replay() calls nothing and finds the same calls and the same result', async (t) => {
  const { space, verbs } = await open(t)
  const answer = await run(
    verbs,
    `const all = await Promise.all([1, 2].map((by) => mcp.fx.add({ key: 'k' + Math.random(), by }))); await sleep(2); return all.map((one) => one.total + Date.now() * 0)`,
  )
  const before = effects(space).length
  assert.deepEqual(await verbs.replay(String(answer.run)), { ok: true, run: answer.run, calls: 3 })
  assert.equal(effects(space).length, before)
})

test('execute() in a dry run calls nothing: results come from mocks, from the record, or from a schema', async (t) => {
  const { space, verbs } = await open(t, asking)
  await run(verbs, `return await mcp.fx.read({ key: 'seen' })`)
  const before = effects(space).length
  const program = `const a = await mcp.fx.add({ key: 'x', by: 1 }); const b = await mcp.fx.add({ key: 'x', by: 1 }); const seen = await mcp.fx.read({ key: 'seen' });
    await sleep(600000); let code; try { await mcp.fx.put({ key: 'p', value: 1 }) } catch (error) { code = error.code + error.message }
    return [a.total, b.total, seen, await mcp.fx.big({ bytes: 3 }), code, args.deep.name, args.list]`
  const mocks = {
    args: { 'deep.name': 'mocked', 'list.0.n': 2, 'list.1': 'new', 'list.7': 'no' },
    tools: { 'fx:add': [{ total: 1 }, { total: 2 }], 'fx:put': { error: 'full' } },
  }
  const answer = await run(verbs, program, { mode: 'dry-run', mocks, args: { list: [{ n: 1, m: 1 }] } })
  assert.deepEqual(
    [answer.status, answer.result],
    ['done', [1, 2, { key: 'seen', value: null }, {}, 'TOOL_ERRORfull', 'mocked', [{ n: 2, m: 1 }, 'new']]],
    JSON.stringify(answer),
  )
  assert.equal(effects(space).length, before)
  assert.equal(types(verbs, answer.run).filter((type) => type === 'call.sent').length, 0)
  assert.deepEqual(await verbs.replay(String(answer.run)), { ok: true, run: answer.run, calls: 6 })
})

test('execute() in a dry run takes from the record what the same arguments got, not those that a human replaced', async (t) => {
  const { verbs } = await open(t, asking)
  const add = (by: number) => `return (await mcp.fx.add({ key: 'x', by: ${by} })).total`
  const { id } = question(await run(verbs, add(2)))
  await verbs.decide(id, { answer: 'approved', args: { key: 'x', by: 5 } }, caller, true)
  const dry = async (by: number) => (await run(verbs, add(by), { mode: 'dry-run' })).result
  assert.deepEqual([await dry(2), await dry(5)], [0, 5], 'the first is made up from what was seen')
})

test('execute() refuses a tool whose server cannot be reached as unreachable, and stops a run whose server lost its state', async (t) => {
  const gone = { command: '/nowhere/at/all', args: [] }
  const fx = (witness: string) => ({
    command: process.execPath,
    args: [join(root, 'test', 'servers', 'effects.ts')],
    env: { EFFECTS: witness },
    stateful: true,
  })
  const space = workspace(t)
  const policy = { permissions: 'privileged', rules: [] }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { gone, fx: fx(space.witness) }, policy }))
  const verbs = await openSpace(space)
  const unreachable = await run(verbs, `await mcp.gone.tool({})`)
  assert.equal((unreachable.error as JsonObject).code, 'UPSTREAM_UNREACHABLE', JSON.stringify(unreachable))
  const lost = await run(
    verbs,
    `await mcp.fx.put({ key: 'a', value: 1 }); try { await mcp.fx.die({}) } catch {} try { await mcp.fx.put({ key: 'b', value: 1 }) } catch {} return 'went on'`,
  )
  assert.deepEqual(
    [lost.status, (lost.error as JsonObject)?.code],
    ['failed', 'UPSTREAM_STATE_LOST'],
    JSON.stringify(lost),
  )
})

test('execute() suggests a tool for an intent alone, and runs nothing', async (t) => {
  const { space, verbs } = await open(t)
  const answer = await verbs.execute({ intent: 'add a number to a counter' }, caller)
  assert.equal(answer.status, 'suggested')
  assert.equal((answer.suggestion as { tasks: { tool: string }[] }).tasks[0]?.tool, 'fx:add')
  assert.deepEqual([verbs.runs(), effects(space)], [[], []])
})

test('execute() names every wrong field of a request', async (t) => {
  const { verbs } = await open(t)
  const bad: [input: unknown, code: string, param: string][] = [
    [null, 'INVALID_INPUT_PARAM', 'input'],
    [{}, 'MISSING_REQUIRED_PARAM', 'implementation'],
    [{ intent: 5 }, 'INVALID_INPUT_PARAM', 'intent'],
    [{ implementation: { type: 'perl' } }, 'INVALID_INPUT_PARAM', 'implementation.type'],
    [{ implementation: { type: 'code' } }, 'MISSING_REQUIRED_PARAM', 'implementation.code'],
    [{ implementation: { type: 'dag' } }, 'MISSING_REQUIRED_PARAM', 'implementation.tasks'],
    [{ resume: 'x' }, 'INVALID_INPUT_PARAM', 'resume'],
    [{ ...code('1'), permissions: 'all' }, 'INVALID_INPUT_PARAM', 'permissions'],
    [{ ...code('1'), budget: { calls: -1 } }, 'INVALID_INPUT_PARAM', 'budget.calls'],
    [{ ...code('1'), mode: 'wet-run' }, 'INVALID_INPUT_PARAM', 'mode'],
    [{ ...code('1'), mode: 'dry-run', mocks: [] }, 'INVALID_INPUT_PARAM', 'mocks'],
    [{ ...code('1'), mode: 'dry-run', mocks: { tools: { 'fx.add': 1 } } }, 'INVALID_INPUT_PARAM', 'mocks'],
    [{ ...code('1'), mode: 'explore', mocks: { calls: { first: 1 } } }, 'INVALID_INPUT_PARAM', 'mocks'],
    [{ ...code('1'), mocks: { tools: { 'fx:add': 1 } } }, 'INVALID_INPUT_PARAM', 'mocks'],
  ]
  for (const [input, name, param] of bad) {
    await assert.rejects(verbs.execute(input, caller), (error: { code: string; context: { param: string } }) => {
      assert.deepEqual([error.code, error.context.param], [name, param], JSON.stringify(input))
      return true
    })
  }
  await assert.rejects(verbs.execute({ resume: '01890000-0000-7000-8000-000000000000' }, caller), {
    code: 'RUN_NOT_FOUND',
  })
})
