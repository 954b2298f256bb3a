/** A capability is held against what agents did for intents like its own; nothing is called. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '#model'
import { caller, done, openSpace, type TestVerbs, teach, workspace } from '#test'

const intent = 'Store the weight of the salt in the cellar'
const put = (value: string) => `await mcp.fx.put({ value: ${value}, key: 'salt' })`
const wordings = [
  `${put("'7 g'")}; return { weight: '7 g' }`,
  `const x = { weight: '7 g' }; ${put('x.weight')}; return x`,
  `return await mcp.fx.put({ key: 'salt', value: '7 g' }).then(() => ({ weight: '7 g' }))`,
  `const all = []; for (const value of ['7 g']) all.push(${put('value')}); return { weight: '7 g', n: all.length }`,
]
const run = (verbs: TestVerbs, code: string) =>
  verbs.execute({ intent, implementation: { type: 'code', code } }, caller)

const judgedOf = (verbs: TestVerbs, id: string) => verbs.capability(id).judged as Record<string, number>

async function until(look: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300 && !look(); tries++) await pause(100)
  assert.ok(look())
}

test('what breaks past runs of its intent is demoted with the reason; what repairs or says the same is not', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const said = { intent, servers: ['fx'], tools: { 'fx:put': 'x' } }
  await teach(verbs.store, 'wrong_answer', `${put("'7 g'")}; return 'nothing of the kind'`, said)
  await teach(verbs.store, 'other_form', `${put("'7 g'")}; return ['7 g']`, said)
  await teach(verbs.store, 'asks_more', `return await mcp.fx.read({ key: 'salt' })`, said)
  for (const code of wordings) assert.equal((await run(verbs, code)).status, 'done')
  const failing = await run(verbs, `${put("'7 g'")}; throw new Error('and then it failed')`)
  assert.equal(failing.status, 'failed')
  const puts = done(space, 'put').length
  const statusOf = (id: string) => (verbs.capabilities() as JsonObject[]).find((one) => one.id === id)
  await until(
    () => statusOf('cap:wrong_answer')?.status === 'demoted' && judgedOf(verbs, 'cap:other_form').judged! >= 5,
  )
  assert.match(String(statusOf('cap:wrong_answer')!.reason), /against [345] past runs .* broke [34] and repaired [01]/)
  const other = judgedOf(verbs, 'cap:other_form')
  assert.deepEqual([other.repairs, other.regressions, other.ties], [1, 0, 4], JSON.stringify(other))
  const more = judgedOf(verbs, 'cap:asks_more')
  assert.deepEqual([more.judged, more.abstentions], [0, 5])
  assert.deepEqual([statusOf('cap:other_form')?.status, statusOf('cap:asks_more')?.status], ['verified', 'verified'])
  assert.equal(done(space, 'put').length, puts, 'nothing was called')
})
