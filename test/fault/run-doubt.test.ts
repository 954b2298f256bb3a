/**
 * Calls whose outcome a kill leaves unknown: how many there are, with which key they are repeated,
 * and who may repeat them.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { done, effects, metier, type Workspace, workspace } from '#test'

const execute = ['execute', '--code', '-', '--json']
const allow = { tool: 'fx:*', then: 'allow' }

/**
 * Runs a program until the server has begun with it, kills the process, and answers the id of the
 * run.
 */
async function killed(space: Workspace, input: string): Promise<string> {
  const ran = await metier(space, execute, { input, killWhen: () => effects(space).length > 0 })
  assert.ok(ran.killed, ran.stdout + ran.stderr)
  return (await metier(space, ['runs', '--json'])).json[0].run
}

/** From now on the file says so. */
function setRules(space: Workspace, rules: object[]): void {
  const config = JSON.parse(readFileSync(space.file, 'utf8'))
  writeFileSync(space.file, JSON.stringify({ ...config, policy: { permissions: 'standard', rules } }))
}

const resume = (space: Workspace, run: string) => metier(space, ['run', 'resume', run, '--json'])
const settle = (space: Workspace, run: string, ...how: string[]) =>
  metier(space, ['run', 'settle', run, '--call', '1', ...how, '--json'])

test('kill -9 after a payment with an empty key: the payment is repeated with the key of the engine, and made once', async (t) => {
  const space = workspace(t, { env: { LAG: '3000' } })
  const run = await killed(space, `return await mcp.fx.pay({ account: 'a', amount: 5, idempotency_key: '' })`)
  const { json } = await resume(space, run)
  assert.deepEqual([json.status, json.result], ['done', { account: 'a', amount: 5, repeated: true }])
  const [paid, ...more] = effects(space)
  assert.deepEqual(more, [])
  assert.match(String(paid!.args.idempotency_key), /^[0-9a-f]{32}$/)
})

test('kill -9 under ten parallel unsafe calls of a server that takes one at a time leaves exactly one in doubt', async (t) => {
  const space = workspace(t)
  const config = JSON.parse(readFileSync(space.file, 'utf8'))
  config.mcpServers.fx.concurrency = 1
  writeFileSync(space.file, JSON.stringify(config))
  const program = `await Promise.all([...Array(10).keys()].map((i) => mcp.fx.add({ key: 'k' + i, by: 1, ms: 600 })))`
  const run = await killed(space, program)
  const [first, ...more] = effects(space)
  assert.deepEqual(more, [])
  const { json } = await resume(space, run)
  assert.equal(json.status, 'uncertain')
  const inDoubt = json.calls.map(({ args }: { args: unknown }) => args)
  assert.deepEqual(inDoubt, [first!.args], 'a human is asked about what the server has seen, and about nothing else')
  assert.equal(done(space, 'add').length, 9, 'what only waited is made')
})

test('a deny that the file has since the crash holds for a call in doubt that could be repeated: a human settles it', async (t) => {
  const space = workspace(t, { env: { LAG: '3000' } })
  const run = await killed(space, `return await mcp.fx.pay({ account: 'a', amount: 5 })`)
  setRules(space, [{ tool: 'fx:pay', then: 'deny' }, allow])
  const { json, code } = await resume(space, run)
  assert.deepEqual([json.status, code, json.calls.length], ['uncertain', 8, 1])
  assert.equal(effects(space).length, 1)
  const settled = await settle(space, run, '--done', '{"paid":true}')
  assert.deepEqual([settled.json.status, settled.json.result], ['done', { paid: true }])
  assert.equal(effects(space).length, 1)
})

test('an ask that the file has since the crash holds likewise, and to say again is the answer to it', async (t) => {
  const space = workspace(t, { env: { LAG: '2000' } })
  const run = await killed(space, `return await mcp.fx.pay({ account: 'a', amount: 5 })`)
  setRules(space, [{ tool: 'fx:pay', then: 'ask' }, allow])
  assert.equal((await resume(space, run)).json.status, 'uncertain')
  assert.equal((await settle(space, run, '--again')).json.result.repeated, true)
  assert.equal(effects(space).length, 1)
})

test('a read in doubt that the file denies since the crash is refused, since it did nothing', async (t) => {
  const space = workspace(t)
  const run = await killed(space, `return await mcp.fx.wait({ ms: 3000 }).catch(({ code }) => code)`)
  setRules(space, [{ tool: 'fx:wait', then: 'deny' }, allow])
  const { json } = await resume(space, run)
  assert.deepEqual([json.status, json.result], ['done', 'PERMISSION_DENIED'])
  assert.equal(effects(space).length, 1)
})

test('settle --again does not beat what the file denies, whether it is said before or after: nothing is sent', async (t) => {
  const space = workspace(t)
  const run = await killed(space, `return await mcp.fx.add({ key: 'k', by: 1, ms: 3000 })`)
  assert.equal((await resume(space, run)).json.status, 'uncertain')
  const before = await settle(space, run, '--again', '--no-resume')
  assert.equal(before.code, 0)
  setRules(space, [{ tool: 'fx:add', then: 'deny' }, allow])
  assert.equal((await resume(space, run)).json.status, 'uncertain')
  const after = await settle(space, run, '--again')
  assert.deepEqual([after.code, after.json.error.code], [6, 'PERMISSION_DENIED'])
  assert.equal(effects(space).length, 1)
  const { json } = await settle(space, run, '--failed', 'it was not made')
  assert.deepEqual([json.status, json.error.code], ['failed', 'TOOL_ERROR'])
  assert.equal(done(space, 'add').length, 0)
})
