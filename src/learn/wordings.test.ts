/** Whose words capabilities were used for, and which of them say more than one did. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWordings, toolsDone } from './wordings.ts'

const run = (intent: string, tools: string[], more: object = {}) =>
  ({ intent, tools, subject: null, status: 'done', ...more }) as const

test('openWordings() knows the intents that a capability alone served, each subject for itself', () => {
  const wordings = openWordings()
  wordings.add(run('pay Ada back', ['cap:refund@1']))
  wordings.add(run('pay Ada back', ['cap:refund@2']))
  wordings.add(run('pay Bob back', ['cap:refund@1'], { status: 'failed' }))
  wordings.add(run('pay Eve back', ['cap:refund@1', 'shop:mail']))
  wordings.add(run('pay Dan back', ['cap:refund@1'], { subject: 'dan' }))
  assert.deepEqual(wordings.of('refund', null), ['pay Ada back'])
  assert.deepEqual(wordings.of('refund', 'dan'), ['pay Dan back'])
})

test('openWordings() holds an intent for which something else was done too for more than one wish', () => {
  const wordings = openWordings()
  for (const tools of [['shop:refund'], ['shop:refund', 'shop:refund']]) wordings.add(run('refund it', tools))
  assert.equal(wordings.isWhole('refund it', null), true)
  wordings.add(run('refund it and close', ['shop:refund']))
  wordings.add(run('refund it and close', ['shop:close']))
  wordings.add(run('refund it and close', ['shop:refund']))
  assert.equal(wordings.isWhole('refund it and close', null), false)
  assert.equal(wordings.isWhole('refund it and close', 'other'), true)
})

test('toolsDone() puts the tools of a capability in its place, and goes round in no circle', () => {
  const known = { refund: ['shop:get', 'cap:pay@1'], pay: ['shop:pay'], round: ['cap:round@1'] }
  const capability = (name: string) => {
    const tools = known[name as keyof typeof known]
    return tools === undefined ? undefined : ({ tools: Object.fromEntries(tools.map((id) => [id, 'x'])) } as never)
  }
  const done = (...tools: string[]) => toolsDone(tools, { capability })
  assert.deepEqual(done('shop:mail', 'cap:refund@1'), ['shop:mail', 'shop:get', 'shop:pay'])
  assert.deepEqual(done('cap:gone@1', 'cap:no:name'), ['cap:gone@1', 'cap:no:name'])
  assert.deepEqual(done('cap:round@1'), ['cap:round@1'])
})
