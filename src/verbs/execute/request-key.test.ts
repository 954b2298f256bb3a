/**
 * Keys of requests: the same request gets the same run, another one is refused, and no caller gets
 * another's.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type JsonObject, RunError } from '#model'
import { caller, done, metier, openSpace, workspace } from '#test'

const program = `return (await mcp.fx.add({ key: 'k', by: args.by ?? 1, ms: 50 })).total`
const code = (text: string) => ({ implementation: { type: 'code', code: text } })

async function open(t: TestContext, config: object = {}) {
  const space = workspace(t, { config })
  return { space, verbs: await openSpace(space) }
}

async function assertRefused(answer: Promise<JsonObject>, run: unknown): Promise<void> {
  const error = await answer.then(
    () => assert.fail('it was answered'),
    (thrown) => thrown,
  )
  assert.deepEqual([error.code, error.context.param, error.context.run], ['INVALID_INPUT_PARAM', 'key', run])
  assert.equal(error instanceof RunError, false, 'the refusal is not an answer about the run that has the key')
}

test('execute() refuses a key with another program, other arguments, another mode or other mocks, and names the run that has it', async (t) => {
  const { space, verbs } = await open(t)
  const { run } = await verbs.execute({ ...code(program), args: { by: 1 }, key: 'K' }, caller)
  const tasks = [{ id: 'a', tool: 'fx:add', arguments: { key: 'k', by: 1 } }]
  const others = [
    { ...code(`${program} `), args: { by: 1 } },
    { ...code(program), args: { by: 2 } },
    code(program),
    { implementation: { type: 'dag', tasks } },
    { ...code(program), args: { by: 1 }, mode: 'dry-run' },
  ]
  for (const other of others) await assertRefused(verbs.execute({ ...other, key: 'K' }, caller), run)
  assert.equal(done(space, 'add').length, 1)
  const dry = await verbs.execute(
    { ...code(program), mode: 'dry-run', mocks: { tools: { 'fx:add': { total: 7 } } }, key: 'D' },
    caller,
  )
  const mocked = { ...code(program), mode: 'dry-run', mocks: { tools: { 'fx:add': { total: 8 } } }, key: 'D' }
  await assertRefused(verbs.execute(mocked, caller), dry.run)
})

test('execute() gives the same run for the same request in any order of its members, with secrets in it, and as a graph', async (t) => {
  const { verbs } = await open(t, { record: { secrets: ['sk-[a-z]{20,}'] } })
  const token = `sk-${'a'.repeat(24)}`
  const text = `const secret = '${token}'; return args.token.length > 0`
  const first = await verbs.execute({ ...code(text), args: { token, a: 1 }, intent: 'one', key: 'K' }, caller)
  const again = await verbs.execute({ ...code(text), args: { a: 1, token }, intent: 'two', key: 'K' }, caller)
  assert.deepEqual([again.status, again.run], ['done', first.run])
  const tasks = [{ id: 'a', tool: 'fx:read', arguments: { key: 'k' } }]
  const graph = () => verbs.execute({ implementation: { type: 'dag', tasks }, key: 'G' }, caller)
  assert.equal((await graph()).run, (await graph()).run)
})

test('execute() takes an empty key for none', async (t) => {
  const { verbs } = await open(t)
  const runs = ['', ' ', ''].map((key) => verbs.execute({ ...code('return 1'), key }, caller))
  assert.equal(new Set((await Promise.all(runs)).map(({ run }) => run)).size, 3)
})

test('execute() tells another secret apart while the run is open', async (t) => {
  const rules = [{ tool: 'fx:put', then: 'ask' }]
  const { verbs } = await open(t, { policy: { rules }, record: { secrets: ['sk-[a-z]{20,}'] } })
  const put = (letter: string) =>
    verbs.execute(
      {
        ...code(`return await mcp.fx.put({ key: 'k', value: args.token })`),
        args: { token: `sk-${letter.repeat(24)}` },
        key: 'K',
      },
      caller,
    )
  const first = await put('a')
  assert.equal((await put('a')).run, first.run)
  await assertRefused(put('b'), first.run)
})

test('execute() lets one of two requests with one key that meet start a run; the other, if it is another, is refused', async (t) => {
  const { space, verbs } = await open(t)
  const ask = (by: number) => verbs.execute({ ...code(program), args: { by }, key: 'K' }, caller)
  const [one, other] = await Promise.allSettled([ask(1), ask(2)])
  assert.deepEqual([one.status, other.status], ['fulfilled', 'rejected'])
  assert.equal((other as PromiseRejectedResult).reason.code, 'INVALID_INPUT_PARAM')
  assert.equal(done(space, 'add').length, 1)
  const broken = verbs.execute({ ...code('return ('), key: 'B' }, caller)
  const right = verbs.execute({ ...code('return 1'), key: 'B' }, caller)
  await assert.rejects(broken)
  assert.equal((await right).result, 1, 'what cannot start holds no key')
})

test('a key of one subject never answers another, and each has the run of its own', async (t) => {
  const { space, verbs } = await open(t)
  const as = (subject: string, by: number) =>
    verbs.execute(
      { ...code(program), args: { by }, key: 'K' },
      { actor: { kind: 'mcp', name: `${subject} (host)` }, subject },
    )
  const [ann, bob] = [await as('ann', 1), await as('bob', 5)]
  assert.notEqual(ann.run, bob.run)
  assert.deepEqual([(await as('ann', 1)).run, (await as('bob', 5)).run], [ann.run, bob.run])
  await assertRefused(as('bob', 1), bob.run)
  assert.equal(done(space, 'add').length, 2)
  const shared = await verbs.execute({ ...code(program), args: { by: 1 }, key: 'K' }, caller)
  assert.ok(![ann.run, bob.run].includes(shared.run))
})

test('a key that a subject used before keys were kept apart still answers that subject, and no other', async (t) => {
  const { verbs } = await open(t)
  const actor = { kind: 'mcp' as const, name: 'ann (host)' }
  const before = await verbs.execute({ ...code(program), key: 'K' }, { actor })
  const as = (subject: string) => verbs.execute({ ...code(program), key: 'K' }, { actor, subject })
  assert.equal((await as('ann')).run, before.run)
  assert.notEqual((await as('an')).run, before.run)
})

test('metier execute --key with another program exits 1 with the run that has the key', async (t) => {
  const space = workspace(t)
  const execute = (input: string) => metier(space, ['execute', '--code', '-', '--key', 'K', '--json'], { input })
  const first = await execute('return 1')
  const other = await execute('return 2')
  const { code: exit, json } = other
  assert.deepEqual([exit, json.error.code, json.error.context.run], [1, 'INVALID_INPUT_PARAM', first.json.run])
  assert.equal((await execute('return 1')).json.run, first.json.run)
})
