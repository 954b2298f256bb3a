/**
 * Values nested too deeply, wherever they come from: the run that made them ends with an answer
 * that says so.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, limits } from '#model'
import { caller, done, metier, openSpace, workspace } from '#test'
import type { Verbs } from '#verbs'

const nest = `const nest = (levels) => { let value = 1; for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { value }; return value };`
const run = (verbs: Verbs, code: string, more: object = {}) =>
  verbs.execute({ implementation: { type: 'code', code: nest + code }, ...more }, caller)

function nested(levels: number): Json {
  let value: Json = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

const codeIn = (answer: JsonObject) => [answer.status, (answer.error as JsonObject | undefined)?.code]
const tooLarge = ['failed', 'RESULT_TOO_LARGE']

test('execute() ends a run whose result is nested too deeply as failed, and says so', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  for (const levels of [limits.programDepthMax + 1, 2000, 5000]) {
    const answer = await run(verbs, `await mcp.fx.add({ key: '${levels}', by: 1 }); return nest(${levels})`)
    assert.deepEqual(codeIn(answer), tooLarge, `${levels}: ${JSON.stringify(answer)}`)
    assert.match(String((answer.error as JsonObject).message), /nested more deeply than 512 levels/)
    assert.equal((await verbs.run(String(answer.run))).status, 'failed')
    assert.deepEqual(await verbs.resume(String(answer.run), caller), verbs.answer(String(answer.run)))
  }
  const fits = await run(verbs, `return nest(${limits.programDepthMax})`)
  assert.equal(fits.status, 'done')
  assert.equal(done(space, 'add').length, 3)
})

test('execute() ends a graph whose tasks return what is nested too deeply, alone or together', async (t) => {
  const verbs = await openSpace(workspace(t))
  const task = (id: string, levels: number) => ({
    id,
    type: 'code_execution',
    code: `${nest} return nest(${levels})`,
  })
  const graph = (tasks: object[]) => verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  assert.deepEqual(codeIn(await graph([task('a', 5000)])), tooLarge)
  assert.deepEqual(codeIn(await graph([task('a', 512), task('b', 1)])), tooLarge, 'each stands under its name')
  assert.deepEqual(codeIn(await graph([task('a', 511), task('b', 1)])), ['done', undefined])
  const bound = { id: 'b', tool: 'fx:put', arguments: { key: 'x', value: { $from: 'a' } } }
  assert.deepEqual(codeIn(await graph([task('a', 512), bound])), ['failed', 'PLAN_INVALID'])
})

test('a call with arguments nested too deeply is refused on the record, and the program hears why', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const put = (levels: number) =>
    `try { return await mcp.fx.put({ key: 'a', value: nest(${levels}) }) } catch (error) { return [error.code, error.message] }`
  for (const levels of [512, 5000]) {
    const answer = await run(verbs, put(levels))
    const [code, message] = answer.result as [string, string]
    assert.equal(code, 'INVALID_INPUT_PARAM')
    assert.match(message, /the arguments are nested more deeply than 512 levels/)
    assert.equal((await verbs.replay(String(answer.run))).ok, true)
  }
  assert.equal(done(space, 'put').length, 0)
  assert.deepEqual((await run(verbs, put(511))).result, { key: 'a' })
})

test('what a program throws or logs may be nested as deeply as it likes', async (t) => {
  const verbs = await openSpace(workspace(t))
  const logged = await run(verbs, `console.log(nest(5000)); return 1`)
  assert.deepEqual([logged.status, logged.result], ['done', 1], JSON.stringify(logged).slice(0, 500))
  for (const thrown of [
    'nest(5000)',
    `new ToolError('TOOL_ERROR', 'no', 'a:b', nest(5000))`,
    `Object.assign(new Error('no'), { cause: nest(5000) })`,
  ]) {
    const answer = await run(verbs, `throw ${thrown}`)
    assert.equal(answer.status, 'failed', JSON.stringify(answer).slice(0, 500))
    assert.ok(JSON.stringify(await verbs.run(String(answer.run))).length > 0)
  }
})

test('execute(), decide() and fork() refuse what they are given nested too deeply', async (t) => {
  const space = workspace(t, { config: { policy: { permissions: 'standard', rules: [] } } })
  const verbs = await openSpace(space)
  const deep = nested(5000)
  const refused = { code: 'INVALID_INPUT_PARAM', message: /nested more deeply than 512 levels/ }
  await assert.rejects(run(verbs, 'return 1', { args: deep }), refused)
  await assert.rejects(verbs.execute(deep, caller), refused)
  const asked = await run(verbs, `return await mcp.fx.add({ key: 'a', by: 1 })`)
  const [{ id }] = asked.approvals as unknown as [{ id: string }]
  await assert.rejects(verbs.decide(id, { answer: 'approved', args: deep }, caller, true), refused)
  await assert.rejects(verbs.fork(String(asked.run), 1, deep, caller), refused)
  const { json } = await metier(space, ['execute', '--code', '-', '--args', JSON.stringify(nested(1000)), '--json'], {
    input: 'return 1',
  })
  assert.equal(json.error.code, 'INVALID_INPUT_PARAM')
})
