/** Calls whose outcome a kill leaves unknown: how many there are, with which key they are repeated, and who may repeat them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { done, effects, metier, workspace } from '#test'

const execute = ['execute', '--code', '-', '--json']

test('kill -9 after a payment with an empty key: the payment is repeated with the key of the engine, and made once', async (t) => {
  const space = workspace(t, { env: { LAG: '3000' } })
  const input = `return await mcp.fx.pay({ account: 'a', amount: 5, idempotency_key: '' })`
  const { killed } = await metier(space, execute, { input, killWhen: () => done(space, 'pay').length > 0 })
  assert.ok(killed)
  const [{ run }] = (await metier(space, ['runs', '--json'])).json
  const { json } = await metier(space, ['run', 'resume', run, '--json'])
  assert.deepEqual([json.status, json.result], ['done', { account: 'a', amount: 5, repeated: true }])
  const [paid, ...more] = effects(space)
  assert.deepEqual(more, [])
  assert.match(String(paid!.args.idempotency_key), /^[0-9a-f]{32}$/)
})
