/** Past intents are found by their words, with no more work the more there are of them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { openPastIntents, type PastIntent } from './past-intents.ts'

const done = (intent: string) => ({ intent, subject: null, status: 'done', tools: [`t:${intent.length % 7}`] })

test('PastIntents.nearest() looks at a bounded number of the intents that all have its word', () => {
  const past = openPastIntents()
  for (let at = 0; at < 8000; at++) past.add(done(`refund order${at} urgently`))
  past.add(done('refund'))
  let looked = 0
  const accepts = (_: PastIntent) => {
    looked++
    return true
  }
  const near = past.nearest('refund', accepts)
  assert.deepEqual([near.length, near[0]?.past.intent], [40, 'refund'], 'the most alike is among them, however new')
  assert.ok(looked <= 1000, `${looked} of ${past.all().length} were looked at`)
})

test('PastIntents.nearest() answers the same however often it was asked while they were added', () => {
  const [asked, filled] = [openPastIntents(), openPastIntents()]
  const words = ['refund', 'order', 'late', 'customer', 'email', 'report', 'stock']
  const intents = Array.from({ length: 9000 }, (_, at) => {
    const said = words.filter((_, place) => ((at * 7919) >> place) % 2 === 1)
    return `pay ${said.join(' ')} ${at % 3 === 0 ? `number${at % 1500}` : ''}`
  })
  for (const [at, intent] of intents.entries()) {
    asked.add(done(intent))
    filled.add(done(intent))
    if (at % 50 === 0) asked.nearest('pay')
  }
  for (const intent of ['pay', 'pay order', 'refund late order', 'pay number300', ...intents.slice(0, 20)])
    assert.deepEqual(asked.nearest(intent), filled.nearest(intent))
})
