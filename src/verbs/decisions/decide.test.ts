/**
 * Answers of humans: at once, too late, in any order, and in the very moment in which a run is put
 * to rest.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventBodies, Json, JsonObject, RunId } from '#model'
import { standingLines } from '#run'
import { caller, done, effects, openSpace, type TestVerbs, type Workspace, workspace } from '#test'
import type { Decision, Verbs } from '#verbs'

const config = { policy: { permissions: 'standard', rules: [] } }
const hourMs = 60 * 60 * 1000
const add = (key: string) => `return (await mcp.fx.add({ key: '${key}', by: 1 })).total`
const run = (verbs: Verbs, code: string) => verbs.execute({ implementation: { type: 'code', code } }, caller)

type Question = { id: string; call: string; args: JsonObject; url: string | null; command: string }

function questions(answer: JsonObject): Question[] {
  assert.equal(answer.status, 'approval_required', JSON.stringify(answer))
  return answer.approvals as unknown as Question[]
}

function answersOf(verbs: Verbs, { run }: JsonObject): EventBodies['approval.answered'][] {
  const events = verbs.eventsOf(run as RunId)
  return events.flatMap((event) => (event.type === 'approval.answered' ? [event.body] : []))
}

async function open(t: TestContext): Promise<{ space: Workspace; verbs: TestVerbs }> {
  const space = workspace(t, { config })
  return { space, verbs: await openSpace(space) }
}

test('decide() lets one of two answers given at once hold, and tells the other', async (t) => {
  const { space, verbs } = await open(t)
  const elsewhere = await openSpace(space)
  for (const round of [1, 2, 3]) {
    const asked = await run(verbs, `try { ${add(`k${round}`)} } catch (error) { return error.code }`)
    const { id } = questions(asked)[0]!
    const given = await Promise.allSettled([
      verbs.decide(id, { answer: 'approved', scope: 'always' }, caller, false),
      elsewhere.decide(id, { answer: 'denied' }, { actor: { kind: 'http', name: 'other' } }, false),
    ])
    const held = given.findIndex(({ status }) => status === 'fulfilled')
    assert.deepEqual(given.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.equal((given[1 - held] as PromiseRejectedResult).reason.code, 'INVALID_INPUT_PARAM')
    const { result } = await verbs.resume(String(asked.run), caller)
    assert.equal(result, held === 0 ? 1 : 'APPROVAL_DENIED')
    assert.deepEqual(
      answersOf(verbs, asked).map(({ answer, who, from }) => [answer, who, from]),
      [held === 0 ? ['approved', 'test', 'cli'] : ['denied', 'other', 'http']],
    )
    assert.equal(done(space, 'add').filter(({ args }) => args.key === `k${round}`).length, held === 0 ? 1 : 0)
    if (held === 0) return assert.equal(verbs.eventsOf('home', { type: 'policy.changed' }).length, 1)
    assert.equal(
      verbs.eventsOf('home', { type: 'policy.changed' }).length,
      0,
      'an answer that does not hold writes no line',
    )
  }
})

test('settle() lets one of two that settle a call at once hold, and tells the other', async (t) => {
  const space = workspace(t)
  const [verbs, elsewhere] = [await openSpace(space), await openSpace(space)]
  const doubt = `const pending = mcp.fx.add({ key: 'x', by: 1, ms: 5000 }); await mcp.fx.wait({ ms: 50 }); try { await mcp.fx.die({}) } catch {} return (await pending).total`
  const { run: id, status } = await run(verbs, doubt)
  assert.equal(status, 'uncertain')
  const other = { actor: { kind: 'http' as const, name: 'other' } }
  const said = await Promise.allSettled([
    verbs.settle(String(id), '1', { how: 'done', value: { total: 41 } }, caller, false),
    elsewhere.settle(String(id), '1', { how: 'done', value: { total: 42 } }, other, false),
  ])
  const held = said.findIndex(({ status }) => status === 'fulfilled')
  assert.deepEqual(said.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.match((said[1 - held] as PromiseRejectedResult).reason.message, /it was settled before, by (test|other)/)
  assert.equal((await verbs.resume(String(id), caller)).result, 41 + held)
})

const doubtful = `const pending = mcp.fx.add({ key: 'x', by: 1, ms: 5000 }); await mcp.fx.wait({ ms: 50 }); try { await mcp.fx.die({}) } catch {} return (await pending).total`

test('settle() tells who comes second also where the same person says something else, and their word changes nothing', async (t) => {
  const space = workspace(t)
  const [verbs, elsewhere] = [await openSpace(space), await openSpace(space)]
  const id = String((await run(verbs, doubtful)).run)
  const done = (total: number) => ({ how: 'done' as const, value: { total } })
  await verbs.settle(id, '1', { how: 'again' }, caller, false)
  for (const settling of [done(41), { how: 'failed' as const, text: 'no' }, { how: 'again' as const }]) {
    const second = elsewhere.settle(id, '1', settling, caller, false)
    await assert.rejects(second, { code: 'INVALID_INPUT_PARAM', message: /it was settled before, by test/ })
  }
  assert.equal(verbs.store.inbox(id as never).length, 1)
  const other = await run(verbs, doubtful)
  const said = [41, 42, 43, 44].map((total) => {
    const who = total % 2 === 0 ? verbs : elsewhere
    return who.settle(String(other.run), '1', done(total), caller, false).then(() => total)
  })
  const held = (await Promise.allSettled(said)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  assert.equal(held.length, 1)
  assert.equal((await verbs.resume(String(other.run), caller)).result, held[0])
})

test('settle() speaks of one try: what was said of an earlier one does not hold for the next', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const id = String((await run(verbs, doubtful)).run)
  const early = { call: '1', attempt: 0, how: 'done', value: { total: 1 }, who: 'test', from: 'cli' } as const
  await verbs.store.send(id as never, 'call.settled', early)
  assert.equal((await verbs.resume(id, caller)).status, 'uncertain')
  const answer = await verbs.settle(id, '1', { how: 'done', value: { total: 2 } }, caller, true)
  assert.equal(answer.result, 2)
  const settled = verbs.eventsOf(id as never, { type: 'call.settled' })
  assert.deepEqual(
    settled.map(({ body }) => (body as { attempt: number }).attempt),
    [1],
  )
})

test('decide() tells who comes second also where the same person edited the arguments otherwise', async (t) => {
  const { space, verbs } = await open(t)
  const elsewhere = await openSpace(space)
  for (let round = 0; round < 5; round++) {
    const asked = await run(verbs, add(`r${round}`))
    const { id } = questions(asked)[0]!
    const edits = ['a', 'b', 'c'].map((name) => ({ key: `r${round}${name}`, by: 1 }))
    const said = edits.map((args, i) =>
      [verbs, elsewhere][i % 2]!.decide(id, { answer: 'approved', args }, caller, false),
    )
    const answers = await Promise.allSettled(said)
    const held = answers.findIndex(({ status }) => status === 'fulfilled')
    assert.deepEqual(answers.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
    for (const refused of answers.filter((answer) => answer.status === 'rejected')) {
      assert.equal(refused.reason.code, 'INVALID_INPUT_PARAM')
      assert.match(refused.reason.message, /it was approved before, by test/)
    }
    await verbs.resume(String(asked.run), caller)
    assert.deepEqual(done(space, 'add').at(-1)!.args, edits[held])
  }
  assert.equal(done(space, 'add').length, 5)
})

test('decide() refuses an answer that comes too late, which the program hears as an expiry', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const { space, verbs } = await open(t)
  const asked = await run(verbs, `try { ${add('late')} } catch (error) { return error.code }`)
  const { id } = questions(asked)[0]!
  t.mock.timers.setTime(Date.now() + 2 * hourMs)
  await assert.rejects(verbs.decide(id, { answer: 'approved' }, caller, true), { code: 'APPROVAL_EXPIRED' })
  assert.deepEqual(verbs.approvals(), [])
  t.after(verbs.announceGateway('http://127.0.0.1:1', true))
  while ((await verbs.run(String(asked.run))).status !== 'done') await pause(10)
  assert.equal((await verbs.run(String(asked.run))).result, 'APPROVAL_EXPIRED', 'a gateway goes on with it')
  assert.deepEqual(
    answersOf(verbs, asked).map(({ answer, who }) => [answer, who]),
    [['expired', 'time']],
  )
  assert.equal(effects(space).length, 0)
})

test('decide() holds when it was in time, however late the run is taken up', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const { verbs } = await open(t)
  const asked = await run(
    verbs,
    `const totals = await Promise.all(['a', 'b', 'c'].map((key) => mcp.fx.add({ key, by: 1 }))); return totals.length`,
  )
  for (const { id } of questions(asked)) await verbs.decide(id, { answer: 'approved' }, caller, false)
  t.mock.timers.setTime(Date.now() + 2 * hourMs)
  const answer = await verbs.resume(String(asked.run), caller)
  assert.deepEqual([answer.status, answer.result], ['done', 3], JSON.stringify(answer))
})

test('decide() lets no yes beat what the file denies meanwhile, whenever it was given', async (t) => {
  const { space, verbs } = await open(t)
  const caught = (key: string) => `try { ${add(key)} } catch (error) { return error.code }`
  const [early, late] = [await run(verbs, caught('early')), await run(verbs, caught('late'))]
  const idOf = (asked: JsonObject) => questions(asked)[0]!.id
  await verbs.decide(idOf(early), { answer: 'approved' }, caller, false)
  const file = JSON.parse(readFileSync(space.file, 'utf8'))
  writeFileSync(space.file, JSON.stringify({ ...file, policy: { rules: [{ tool: 'fx:add', then: 'deny' }] } }))
  const stricter = await openSpace(space)
  await assert.rejects(stricter.decide(idOf(late), { answer: 'approved' }, caller, true), { code: 'PERMISSION_DENIED' })
  assert.equal((await stricter.decide(idOf(late), { answer: 'denied' }, caller, true)).result, 'APPROVAL_DENIED')
  assert.equal((await stricter.resume(String(early.run), caller)).result, 'PERMISSION_DENIED')
  assert.deepEqual(effects(space), [])
})

test('decide() refuses an answer to a run that was cancelled', async (t) => {
  const { verbs } = await open(t)
  const asked = await run(verbs, add('gone'))
  await verbs.cancel(String(asked.run), caller)
  await assert.rejects(verbs.decide(questions(asked)[0]!.id, { answer: 'approved' }, caller, true), {
    code: 'INVALID_INPUT_PARAM',
  })
})

test('decide() wakes exactly the call that was asked about, in any order, with a crash between any two steps', async (t) => {
  const orders = [
    [0, 1, 2],
    [2, 0, 1],
    [1, 2, 0],
  ]
  const space = workspace(t, { config })
  for (const order of orders) {
    let verbs = await openSpace(space)
    const name = order.join('')
    const program = `const names = ['a', 'b', 'c']; const settled = await Promise.allSettled(names.map((name) => mcp.fx.add({ key: '${name}' + name, by: 1 })));
      return settled.map(({ value, reason }) => value?.key ?? reason.code)`
    const asked = await run(verbs, program)
    const three = questions(asked)
    const expected: Json[] = [`${name}a`, `${name}b`, `${name}c`]
    for (const [step, index] of order.entries()) {
      const decision: Decision = step === 1 ? { answer: 'denied' } : { answer: 'approved' }
      if (step === 1) expected[index] = 'APPROVAL_DENIED'
      await verbs.decide(three[index]!.id, decision, caller, false)
      await verbs.close()
      verbs = await openSpace(space)
      const answer = await verbs.resume(String(asked.run), caller)
      if (step < 2)
        assert.deepEqual(
          questions(answer).map(({ id }) => id),
          three.filter((_, i) => !order.slice(0, step + 1).includes(i)).map(({ id }) => id),
        )
      else assert.deepEqual([answer.status, answer.result], ['done', expected], JSON.stringify(answer))
    }
    const made = done(space, 'add')
      .map(({ args }) => args.key)
      .filter((key) => String(key).startsWith(name))
    assert.deepEqual(
      made.sort(),
      expected.filter((key) => key !== 'APPROVAL_DENIED'),
    )
    await verbs.close()
  }
})

test('decide() in the moment in which a run is put to rest: it goes on at once, and the call is made once', async (t) => {
  const space = workspace(t, { config })
  const [owner, other] = [await openSpace(space), await openSpace(space)]
  const by: string[] = []
  for (let round = 0; round < 40 && new Set(by).size < 2; round++) {
    const key = `r${round}`
    const waited = () => effects(space).filter(({ tool, phase }) => tool === 'wait' && phase === 'done').length
    const before = waited()
    const pending = run(
      owner,
      `const asked = mcp.fx.add({ key: '${key}', by: 1 }); await mcp.fx.wait({ ms: 30 }); return (await asked).total`,
    )
    while (waited() === before) await pause(1)
    // How long the run takes to its rest is the machine's to say: some come before it, some after.
    await pause(round % 5)
    const [question] = other.approvals() as unknown as Question[]
    // Where the answer is only recorded, the owner alone is there to go on; otherwise both try, and
    // one does.
    const answered = other.decide(question!.id, { answer: 'approved' }, caller, round % 2 === 0)
    const [{ run: id, status, result }] = await Promise.all([pending, answered])
    if (status === 'done') assert.equal(result, 1, 'who waited hears the end, whoever wrote it')
    // An answer that is only recorded, and comes when the owner has gone, waits for a caller who
    // resumes the run.
    if (round % 2 === 1 && owner.store.run(id as RunId)?.status === 'approval_required')
      await other.resume(String(id), caller)
    while (other.store.run(id as RunId)?.status !== 'done') await pause(10)
    assert.equal((await other.run(String(id))).result, 1)
    assert.equal(done(space, 'add').filter(({ args }) => args.key === key).length, 1)
    by.push(...owner.eventsOf(id as RunId).flatMap((event) => (event.type === 'run.resumed' ? event.body.by : [])))
  }
  assert.deepEqual(
    [...new Set(by)].sort(),
    ['engine', 'test'],
    'the answer fell into that moment, and each went on once',
  )
})

test('forget() takes back a line for every process at once, also for the run in which it was written', async (t) => {
  const { space, verbs } = await open(t)
  const elsewhere = await openSpace(space)
  const code = `
    const once = (key) => mcp.fx.add({ key, by: 1 })
    await once('a'); await once('b')
    await mcp.fx.wait({ ms: 1500 })
    await once('c')`
  const asked = await run(verbs, code)
  const going = verbs.decide(questions(asked)[0]!.id, { answer: 'approved', scope: 'always' }, caller, true)
  for (let round = 0; round < 200 && done(space, 'add').length < 2; round++) await pause(10)
  assert.equal(done(space, 'add').length, 2, 'the second passed by the line')
  const { id, rule, who, approval } = standingLines(elsewhere.store)[0]!
  assert.deepEqual([rule, who, approval], [{ tool: 'fx:add', then: 'allow' }, 'test', questions(asked)[0]!.id])

  const forgotten = await elsewhere.forget(String(id), { actor: { kind: 'cli', name: 'other' } })
  assert.deepEqual(forgotten, { rule, forgets: [id] })
  assert.deepEqual(
    questions(await going).map(({ args }) => args.key),
    ['c'],
  )
  assert.equal(questions(await run(verbs, add('d'))).length, 1)
  assert.equal(questions(await run(elsewhere, add('e'))).length, 1)
  assert.equal(done(space, 'add').length, 2)
  const bodies = verbs.eventsOf('home', { type: 'policy.changed' }).map(({ body }) => body)
  assert.deepEqual(bodies, [
    { rule, who: 'test', from: 'cli', approval, permissions: 'standard' },
    { rule, who: 'other', from: 'cli', forgets: [id] },
  ])
  assert.equal((await verbs.ledger()).ok, true)
})

test('forget() takes back lines that say the same together, and refuses what does not stand', async (t) => {
  const { verbs } = await open(t)
  const said = { who: 'test', from: 'cli' }
  for (const tool of ['fx:add', 'fx:pay', 'fx:add'])
    await verbs.store.appendHome('policy.changed', { rule: { tool, then: 'allow' }, ...said })
  const [first, second, third] = standingLines(verbs.store).map(({ id }) => id)
  assert.deepEqual((await verbs.forget(String(third), caller)).forgets, [first, third])
  assert.deepEqual(
    standingLines(verbs.store).map(({ id }) => id),
    [second],
  )
  for (const id of [String(third), '0', '-1', 'fx:add', '', `${second}.0`])
    await assert.rejects(verbs.forget(id, caller), /Cannot forget the line/, id)
})
