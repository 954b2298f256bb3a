/**
 * Questions in parallel, in loops, in races and in nested programs, answered in any order, with
 * restarts in between: each answer wakes exactly its call.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openCatalog } from '#catalog'
import { type JsonObject, limits, parseConfig } from '#model'
import { openStore } from '#record'
import { loadEngine } from '#run'
import { openBoxes } from '#sandbox'
import { caller, done, openSpace, type Workspace, workspace } from '#test'
import type { Verbs } from '#verbs'

const { openEngine } = await loadEngine()

type AskedCall = { id: string; call: string; tool: string; args: { key: string }; expiresAt: string }
type Answer = 'approved' | 'denied'

const policy = {
  rules: [
    { tool: 'fx:add', then: 'ask' },
    { tool: 'fx:flaky', then: 'ask' },
    { tool: 'fx:*', then: 'allow' },
  ],
}
const code = (text: string) => ({ implementation: { type: 'code', code: text } })
const dag = (...tasks: object[]) => ({ implementation: { type: 'dag', tasks } })
const add = (key: string) => `mcp.fx.add({ key: '${key}', by: 1 })`

/** A home whose process can be taken away between any two steps. */
class Place {
  readonly space: Workspace
  verbs!: Verbs
  run = ''

  constructor(t: TestContext) {
    this.space = workspace(t, { config: { policy } })
  }

  async begin(request: object): Promise<JsonObject> {
    this.verbs ??= await openSpace(this.space)
    const answer = await this.verbs.execute(request, caller)
    this.run = String(answer.run)
    return answer
  }

  async restart(): Promise<void> {
    await this.verbs.close()
    this.verbs = await openSpace(this.space)
  }

  open(): AskedCall[] {
    return this.verbs.approvals() as unknown as AskedCall[]
  }

  /** Answers the question about one key and goes on as far as the run can. */
  async answer(key: string, answer: Answer = 'approved', goOn = true): Promise<JsonObject> {
    const asked = this.open().find(({ args }) => args.key === key)
    assert.ok(asked, `${key} is asked about: ${JSON.stringify(this.open().map(({ args }) => args.key))}`)
    await this.verbs.decide(asked.id, { answer }, caller, goOn)
    return goOn ? this.verbs.resume(this.run, caller) : {}
  }

  keys(): string[] {
    return this.open().map(({ args }) => args.key)
  }

  added(): string[] {
    return done(this.space, 'add').map(({ args }) => String(args.key))
  }
}

function permutations<Item>(items: Item[]): Item[][] {
  if (items.length < 2) return [items]
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]))
}

test('parallel questions about the same tool: every order of answers wakes exactly its branch, across restarts', async (t) => {
  const place = new Place(t)
  const orders = permutations(['a', 'b', 'c']).map((order, at) => ({ order: order.map((key) => key + at), run: '' }))
  for (const one of orders) {
    const program = `const seen = await Promise.all([${one.order.toSorted().map(add)}]); return seen.map(({ key, total }) => key + total)`
    assert.equal((await place.begin(code(program))).status, 'approval_required')
    one.run = place.run
  }
  for (let at = 0; at < 3; at++) {
    await place.restart()
    for (const { order, run } of orders) {
      place.run = run
      const { status, result } = await place.answer(order[at]!)
      assert.equal(status, at === 2 ? 'done' : 'approval_required', 'the block is complete only when all are')
      const added = place.added().filter((key) => order.includes(key))
      assert.deepEqual(added, order.slice(0, at + 1), 'an answered branch went on, and none reverted')
      if (at === 2)
        assert.deepEqual(
          result,
          order.toSorted().map((key) => `${key}1`),
        )
    }
  }
})

test('questions inside a forEach are answered in any order, and their results keep the order of the items', async (t) => {
  const place = new Place(t)
  const list = { id: 'list', type: 'code_execution', code: 'return ["x", "y", "z"]' }
  const each = {
    id: 'each',
    tool: 'fx:add',
    arguments: { key: { $item: '' }, by: 1 },
    forEach: { $from: 'list', path: '' },
  }
  assert.equal((await place.begin(dag(list, each))).status, 'approval_required')
  await place.restart()
  await place.answer('z')
  await place.answer('x')
  await place.restart()
  const { status, result } = await place.answer('y')
  assert.equal(status, 'done')
  assert.deepEqual(
    (result as { key: string }[]).map(({ key }) => key),
    ['x', 'y', 'z'],
  )
  assert.deepEqual(place.added().sort(), ['x', 'y', 'z'])
})

test('a denied item of a forEach fails the graph when its other questions are answered, too', async (t) => {
  const place = new Place(t)
  const list = { id: 'list', type: 'code_execution', code: 'return ["x", "y"]' }
  const each = {
    id: 'each',
    tool: 'fx:add',
    arguments: { key: { $item: '' }, by: 1 },
    forEach: { $from: 'list', path: '' },
  }
  await place.begin(dag(list, each))
  assert.equal((await place.answer('y', 'denied')).status, 'approval_required', 'a call that was issued is a call')
  await place.restart()
  const { status, error } = await place.answer('x', 'denied')
  assert.deepEqual([status, (error as { code: string }).code, place.added()], ['failed', 'APPROVAL_DENIED', []])
})

test('a question that lost its race is still a question; the run is over when it is answered', async (t) => {
  const place = new Place(t)
  const first = await place.begin(
    code(
      `return await Promise.race([${add('late')}.then(() => 'late'), mcp.fx.read({ key: 'k' }).then(() => 'read')])`,
    ),
  )
  assert.equal(first.status, 'approval_required')
  await place.restart()
  const { status, result } = await place.answer('late')
  assert.deepEqual([status, result, place.added()], ['done', 'read', ['late']])
})

test('allSettled sees the denial of one and the result of the other', async (t) => {
  const place = new Place(t)
  const program = `const all = await Promise.allSettled([${add('yes')}, ${add('no')}]); return all.map((one) => one.value?.key ?? one.reason.code)`
  await place.begin(code(program))
  await place.answer('no', 'denied')
  await place.restart()
  const { result } = await place.answer('yes')
  assert.deepEqual([result, place.added()], [['yes', 'APPROVAL_DENIED'], ['yes']])
})

test('one question after the other: what came before is not done again, and the second one asks', async (t) => {
  const place = new Place(t)
  const program = `await mcp.fx.put({ key: 'once', value: 1 }); await ${add('first')}; await mcp.fx.put({ key: 'twice', value: 2 }); await ${add('second')}; return 'end'`
  await place.begin(code(program))
  assert.deepEqual(place.keys(), ['first'])
  await place.restart()
  assert.equal((await place.answer('first')).status, 'approval_required')
  assert.deepEqual(place.keys(), ['second'])
  await place.restart()
  const { result } = await place.answer('second')
  assert.deepEqual([result, done(place.space, 'put').length, place.added()], ['end', 2, ['first', 'second']])
})

test('a nested program waits alone: its siblings go on, and after a restart it resumes where it was', async (t) => {
  const place = new Place(t)
  const work = (id: string) => ({
    id,
    type: 'code_execution',
    code: `await mcp.fx.put({ key: '${id}', value: 1 }); const { key } = await ${add(id)}; return key`,
  })
  const free = { id: 'free', tool: 'fx:put', arguments: { key: 'free', value: 1 } }
  await place.begin(dag(work('m'), work('n'), free))
  assert.deepEqual(place.keys().sort(), ['m', 'n'])
  assert.equal(done(place.space, 'put').length, 3)
  await place.restart()
  await place.answer('n')
  await place.restart()
  const { result } = await place.answer('m')
  assert.deepEqual(result, { m: 'm', n: 'n', free: { key: 'free' } })
  assert.deepEqual([done(place.space, 'put').length, place.added()], [3, ['n', 'm']])
})

test('a retry is a call of its own and asks again', async (t) => {
  const place = new Place(t)
  await place.begin(
    dag({ id: 'shaky', tool: 'fx:flaky', arguments: { key: 'f', failures: 1 }, retry: { max: 3, backoffMs: 1 } }),
  )
  assert.equal((await place.answer('f')).status, 'approval_required', 'it failed, and its repetition is asked about')
  const { status, result } = await place.answer('f')
  assert.deepEqual([status, result], ['done', { attempts: 2 }])
  assert.equal(done(place.space, 'flaky').length, 2)
})

test('a run that is cancelled while it waits makes nothing, and takes no answer any more', async (t) => {
  const place = new Place(t)
  await place.begin(code(`return await Promise.all([${add('a')}, ${add('b')}])`))
  const [asked] = place.open()
  await place.restart()
  await place.verbs.cancel(place.run, caller, 'not any more')
  const { status } = await place.verbs.resume(place.run, caller)
  assert.equal(status, 'cancelled')
  assert.deepEqual(place.open(), [])
  await assert.rejects(place.verbs.decide(asked!.id, { answer: 'approved' }, caller, true))
  assert.deepEqual(place.added(), [])
})

test('an answer that was recorded before a crash counts after it, once', async (t) => {
  const place = new Place(t)
  await place.begin(code(`return (await ${add('kept')}).total`))
  await place.answer('kept', 'approved', false)
  await place.restart()
  const { status, result } = await place.verbs.resume(place.run, caller)
  assert.deepEqual([status, result, place.added()], ['done', 1, ['kept']])
})

test('of two answers at the same time one counts, and its call is made at most once', async (t) => {
  const place = new Place(t)
  await place.begin(code(`try { return (await ${add('both')}).total } catch (error) { return error.code }`))
  const [{ id }] = place.open() as [AskedCall]
  const answers = (['approved', 'denied'] as const).map((answer) => place.verbs.decide(id, { answer }, caller, true))
  await Promise.allSettled(answers)
  const { status, result } = await place.verbs.resume(place.run, caller)
  assert.equal(status, 'done')
  const decisions = place.verbs.eventsOf(place.run, { type: 'approval.answered' })
  assert.equal(decisions.length, 1)
  assert.deepEqual([result, place.added().length], result === 1 ? [1, 1] : ['APPROVAL_DENIED', 0])
})

test('of parallel questions one expires: who decides it after that is refused, its branch alone is denied, the other goes on', async (t) => {
  const place = new Place(t)
  const { space } = place
  const text = readFileSync(space.file, 'utf8')
  const config = parseConfig({ file: space.file, text, home: space.home, env: process.env, directory: space.folder })
  const store = await openStore({ home: space.home })
  const catalog = openCatalog({
    servers: config.servers,
    folder: `${space.home}/catalog`,
    baseEnv: { PATH: process.env.PATH! },
  })
  const boxes = openBoxes({})
  // A clock that is almost an hour behind: what it asks expires soon.
  const now = () => Date.now() - limits.approvalMsDefault + 5000
  const engine = openEngine({ store, boxes, catalog, config, now })
  const program = `const all = await Promise.allSettled([${add('in-time')}, ${add('too-late')}]); return all.map(({ value, reason }) => value?.total ?? reason.code)`
  const plan = { kind: 'code', code: program } as const
  const { run, settled } = await engine.start({ plan, intent: null, args: {}, actor: caller.actor })
  assert.equal(await settled, 'approval_required')
  await engine.close()
  await Promise.all([boxes.close(), catalog.close()])
  await store.close()
  place.run = run
  place.verbs = await openSpace(space)
  const late = place.open().find(({ args }) => args.key === 'too-late')!
  await place.answer('in-time', 'approved', false)
  await pause(Math.max(0, Date.parse(late.expiresAt) + 100 - Date.now()))
  assert.deepEqual(place.keys(), [], 'what expired is asked no more')
  for (const answer of ['approved', 'denied'] as const)
    await assert.rejects(place.verbs.decide(late.id, { answer }, caller, true), { code: 'APPROVAL_EXPIRED' })
  await place.restart()
  const { status, result } = await place.verbs.resume(run, caller)
  assert.deepEqual([status, result], ['done', [1, 'APPROVAL_EXPIRED']])
  assert.deepEqual(place.added(), ['in-time'])
  await assert.rejects(place.verbs.decide(late.id, { answer: 'approved' }, caller, true), {
    code: 'INVALID_INPUT_PARAM',
  })
})
