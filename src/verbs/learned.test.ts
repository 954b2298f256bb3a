/** What was learned, as an agent meets it: in discover, in execute with an intent alone, in why. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { caller, done, openSpace, schemaOf, type TestVerbs, teach, workspace } from '#test'
import type { Caller } from '#verbs'

const addCode = 'return await mcp.fx.add({ key: args.key, by: args.by })'
const parameters = schemaOf({ key: { type: 'string' }, by: { type: 'number' } })

/** Runs of one habit, and a capability that stands in the chain as if they had taught it. */
async function practise(verbs: TestVerbs): Promise<void> {
  for (const by of [1, 3, 5, 7]) {
    const intent = `put ${by} more apples into the basket`
    await verbs.execute(
      { intent, implementation: { type: 'code', code: addCode }, args: { key: 'apples', by } },
      caller,
    )
  }
  const more = { intent: 'put 1 more apples into the basket', parametersSchema: parameters, servers: ['fx'] }
  await teach(verbs.store, 'more_apples', addCode, { ...more, tools: { 'fx:add': 'x' }, effect: 'unsafe' })
  await teach(verbs.store, 'never_verified', addCode, { ...more, isVerified: false })
  await teach(verbs.store, 'of_another_server', addCode, { ...more, servers: ['gone'] })
  for (let look = 0; look < 100; look++) {
    const { results } = await verbs.discover(
      { intent: 'apples into the basket', filter: { type: 'capability' } },
      caller,
    )
    if (results.some(({ id }) => id === 'cap:more_apples')) return
    await pause(100)
  }
}

test('discover() offers verified capabilities whose servers are there, and ranks tools by past intents', async (t) => {
  const verbs = await openSpace(workspace(t))
  const before = await verbs.discover({ intent: 'put 9 more apples into the basket' }, caller)
  await practise(verbs)
  const alone = await verbs.discover(
    { intent: 'put 9 more apples into the basket', filter: { type: 'capability' } },
    caller,
  )
  const offered = alone.results.map(({ id }) => id)
  // The runs themselves may have taught one by now: it says the same of the apples.
  assert.ok(offered.includes('cap:more_apples') && offered.every((id) => /more_apples/.test(id)), String(offered))
  const after = await verbs.discover({ intent: 'put 9 more apples into the basket' }, caller)
  const scoreOf = (answer: typeof after) => answer.results.find(({ id }) => id === 'fx:add')?.score ?? 0
  assert.ok(scoreOf(after) > scoreOf(before), `${scoreOf(before)} → ${scoreOf(after)}`)
  assert.ok(after.results.some(({ type }) => type === 'capability'))
  const tools = await verbs.discover({ intent: 'apples into the basket', filter: { type: 'tool' } }, caller)
  assert.ok(tools.results.every(({ type }) => type === 'tool'))
})

test('what a subject taught is offered to it alone; shared, it is offered without its values', async (t) => {
  const properties = { key: { type: 'string', default: 'rubies of Ada' }, by: { type: 'number' } }
  const more = { intent: 'put 1 more rubies of Ada into the safe', subject: 'ada', servers: ['fx'] }
  const of = (subject: string): Caller => ({ ...caller, subject, actor: { kind: 'mcp', name: 'host' } })
  const [ada, bob] = [of('ada'), of('bob')]
  const opened = async (shared: boolean) => {
    const verbs = await openSpace(workspace(t, { config: { learn: { shared } } }))
    const tools = { 'fx:add': 'x' }
    await teach(verbs.store, 'fill_safe', addCode, {
      ...more,
      parametersSchema: schemaOf(properties),
      tools,
      effect: 'unsafe',
    })
    const find = async (asking: Caller) => {
      const { results } = await verbs.discover({ intent: 'fill the safe', filter: { type: 'capability' } }, asking)
      return results.find(({ id }) => id === 'cap:fill_safe')
    }
    for (let look = 0; look < 100 && (await find(ada)) === undefined; look++) await pause(100)
    const plan = { type: 'capability', id: 'cap:fill_safe' } as const
    const use = async (asking: Caller) => {
      const answer = verbs.execute({ intent: 'fill the safe', implementation: plan, args: { by: 1 } }, asking)
      return answer.then(
        ({ status }) => status,
        ({ code }) => code,
      )
    }
    return { find, use }
  }
  const apart = await opened(false)
  assert.match(JSON.stringify(await apart.find(ada)), /rubies of Ada/)
  assert.equal(await apart.find(bob), undefined)
  assert.deepEqual([await apart.use(bob), await apart.use(ada)], ['TOOL_NOT_FOUND', 'done'])
  const together = await opened(true)
  const seen = await together.find(bob)
  assert.match(JSON.stringify(seen), /fx\.add/)
  assert.doesNotMatch(JSON.stringify(seen), /Ada/)
  assert.deepEqual([await together.use(bob), await together.use(ada)], ['MISSING_REQUIRED_PARAM', 'done'])
})

test('execute() of an intent alone suggests, and runs what is sure enough only where that is configured', async (t) => {
  const shy = await openSpace(workspace(t))
  await practise(shy)
  const intent = 'put 9 more apples into the basket'
  const { status, suggestion } = await shy.execute({ intent, args: { key: 'apples', by: 9 } }, caller)
  const { id, ...bound } = suggestion!.capability!
  assert.match(id, /more_apples/)
  assert.deepEqual([status, bound], ['suggested', { args: { key: 'apples', by: 9 }, missing: [] }])
  assert.ok(suggestion!.confidence > 0.3 && suggestion!.confidence < 1, String(suggestion!.confidence))
  assert.deepEqual(suggestion!.toolSchemas['fx:add']?.requiredInputs.toSorted(), ['by', 'key'])
  const unknown = await shy.execute({ intent: 'wait a moment' }, caller)
  assert.ok(unknown.suggestion!.confidence <= 0.5)
  assert.equal(unknown.suggestion!.capability, undefined)
  const why = await shy.why(intent, caller)
  assert.match(why.decision, /^suggest cap:.*more_apples/)
})

test('execute() speculates on the record and says so; with an argument missing it only suggests', async (t) => {
  const bold = await openSpace(workspace(t, { config: { speculate: { minConfidence: 0.2 } } }))
  await practise(bold)
  const intent = 'put 9 more apples into the basket'
  const asked = await bold.execute({ intent, args: { key: 'apples', by: 9 } }, caller)
  const answer = await bold.decide(asked.approvals![0]!.id, { answer: 'approved' }, caller, true)
  assert.deepEqual([answer.status, answer.speculated], ['done', true])
  assert.match(answer.capability!.id, /more_apples/)
  assert.equal(answer.callCount, 1)
  const started = bold.store.startedEvents([answer.run!]).get(answer.run!)
  assert.equal(started?.capability, `${answer.capability!.id}@1`)
  const half = await bold.execute({ intent: 'put more apples into the basket', args: { key: 'apples' } }, caller)
  assert.equal(half.status, 'suggested')
})

test('a speculated call that is not safe to repeat asks, whatever the rules of the file and of humans allow', async (t) => {
  const allowed = { permissions: 'privileged', rules: [{ tool: 'fx:*', then: 'allow' }] }
  const space = workspace(t, { config: { policy: allowed, speculate: { minConfidence: 0.2 } } })
  const verbs = await openSpace(space)
  await practise(verbs)
  const asking = async (by: number) => {
    const intent = `put ${by} more apples into the basket`
    const answer = await verbs.execute({ intent, args: { key: 'apples', by } }, caller)
    assert.equal(answer.status, 'approval_required', JSON.stringify(answer))
    return answer.approvals![0]!
  }
  const question = await asking(9)
  assert.match(question.why, /an intent alone led to this call/)
  const [shown] = await verbs.withPlannedTools([question])
  assert.match(shown!.lines!.always, /without effect on calls like this/)
  const answered = await verbs.decide(question.id, { answer: 'approved', scope: 'always' }, caller, true)
  assert.equal(answered.status, 'done', JSON.stringify(answered))
  // The line that was just written holds for what agents ask for, and for nothing that was not
  // done.
  assert.equal((await asking(11)).why, question.why)
  assert.equal(done(space, 'add').filter(({ args }) => args.by === 11).length, 0)
  const written = { intent: 'put 11 more apples in', implementation: { type: 'code', code: addCode } }
  assert.equal((await verbs.execute({ ...written, args: { key: 'apples', by: 11 } }, caller)).status, 'done')
})

test('an intent that says more than a habit, or the opposite of it, runs nothing and is less sure', async (t) => {
  const space = workspace(t, { config: { speculate: { minConfidence: 0.01 } } })
  const verbs = await openSpace(space)
  await practise(verbs)
  const before = done(space, 'add').length
  const shareOf = async (intent: string) => {
    const { candidates } = await verbs.why(intent, caller)
    return candidates.find(({ id }) => id === 'cap:more_apples')?.score ?? 0
  }
  const plain = await shareOf('put 9 more apples into the basket')
  for (const intent of [
    'put 9 more apples into the basket and empty the shelf',
    'put 9 more apples into the basket, then sell it',
    'put 9 more apples into the basket unless it is full',
  ]) {
    const { status, suggestion } = await verbs.execute({ intent, args: { key: 'apples', by: 9 } }, caller)
    assert.equal(status, 'suggested', intent)
    assert.match(suggestion!.warnings.join(' '), /was never asked for with: .* It does what it did before/, intent)
    const { decision, reason } = await verbs.why(intent, caller)
    assert.match(`${decision} ${reason}`, /^suggest cap:.*never asked for with/, intent)
    assert.ok((await shareOf(intent)) <= 0.55 * plain, intent)
  }
  const opposite = 'do not put 9 more apples into the basket'
  assert.equal((await verbs.execute({ intent: opposite, args: { key: 'apples', by: 9 } }, caller)).status, 'suggested')
  assert.ok((await shareOf(opposite)) <= 0.55 * plain)
  assert.equal(done(space, 'add').length, before)
})
