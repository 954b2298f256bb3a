/** Programs and graphs of one shape become one procedure; values stay where they came from. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#model'
import { canonicalOf } from '#run'
import { prepareProgram } from '#sandbox'
import { argumentsOfRun, draftOf } from './make-capability.ts'
import { nameFor } from './name-capability.ts'

const shaped = (intent: string, code: string, args: Json = {}) => ({
  run: intent,
  intent,
  literals: canonicalOf(prepareProgram(code).source).literals.map(({ value }) => value),
  args,
})

test('draftOf() lifts what varied or stands in the intent, and keeps what never changed', () => {
  const code = (
    order: string,
    top: number,
  ) => `const found: any = await mcp.shop.find({ order: '${order}', top: ${top}, sort: 'date' })
    return found.items`
  const texts = [code('A-17', 5), code('B-99', 5), code('C-01', 5), code('D-02', 9)]
  const intents = ['show order A-17', 'show order B-99', 'show order C-01', 'show order D-02']
  const runs = texts.map((text, at) => shaped(intents[at]!, text))
  const draft = draftOf({ kind: 'code', code: texts[0]!, runs })!
  assert.match((draft.source as { code: string }).code, /order: args\.order, top: args\.top, sort: 'date'/)
  assert.deepEqual(draft.parametersSchema, {
    type: 'object',
    properties: { order: { type: 'string' }, top: { type: 'integer', default: 5 } },
    required: ['order'],
    additionalProperties: false,
  })
  assert.deepEqual(argumentsOfRun(runs[3]!, draft.lifted), { order: 'D-02', top: 9 })
  const once = draftOf({ kind: 'code', code: texts[0]!, runs: runs.slice(0, 1) })!
  assert.deepEqual(once.lifted, { order: [0] }, 'of one run only what its intent names')
})

test('draftOf() takes args as parameters, beside which lifted ones get names of their own', () => {
  const code = `return await mcp.shop.find({ order: 'A-17', city: args.order })`
  const runs = [shaped('find A-17', code, { order: 'Rome' })]
  const draft = draftOf({ kind: 'code', code, runs })!
  assert.deepEqual(argumentsOfRun(runs[0]!, draft.lifted), { order: 'Rome', order2: 'A-17' })
  assert.deepEqual(draft.parametersSchema.required, ['order', 'order2'])
  assert.equal(draftOf({ kind: 'code', code, runs: [shaped('find A-17', code, ['Rome'])] }), null)
})

test('draftOf() lifts a literal with a secret, gives it no default, and refuses text with one', () => {
  const secret = `«secret:${'0'.repeat(32)}»`
  const code = `return await mcp.shop.login({ token: '${secret}' })`
  const runs = ['a', 'b', 'c'].map((intent) => shaped(intent, code))
  const draft = draftOf({ kind: 'code', code, runs })!
  assert.deepEqual(draft.parametersSchema.properties, { token: { type: 'string' } })
  assert.ok(!JSON.stringify(draft.source).includes('secret:'))
  const text = `return await mcp.shop.login({ token: \`x ${secret}\` })`
  assert.equal(draftOf({ kind: 'code', code: text, runs: [shaped('a', text)] }), null)
})

test('draftOf() lifts values of a graph, bindings stay', () => {
  const tasks = (key: string) => [
    { id: 't1', tool: 'fx:read', arguments: { key } },
    { id: 't2', tool: 'fx:put', arguments: { value: { $from: 't1', path: '/value' }, key: { $literal: key } } },
  ]
  const run = (key: string) => ({ run: key, intent: `copy ${key}`, literals: [key, key], args: {} })
  const draft = draftOf({ kind: 'dag', code: JSON.stringify(tasks('one')), runs: [run('one'), run('two')] })!
  assert.deepEqual(draft.source, {
    type: 'dag',
    tasks: [
      { id: 't1', tool: 'fx:read', arguments: { key: { $args: '/key' } } },
      {
        id: 't2',
        tool: 'fx:put',
        arguments: { key: { $literal: { $args: '/key' } }, value: { $from: 't1', path: '/value' } },
      },
    ],
  })
})

test('nameFor() is made of words of the intents that are no values, and free', () => {
  const name = (intents: string[], values: Json[], taken: string[] = []) =>
    nameFor(intents, values, ['shop:refund'], (one) => !taken.includes(one))
  assert.equal(
    name(['Refund the late orders of May', 'refund late orders of June'], ['May', 'June']),
    'refund_late_orders',
  )
  assert.equal(name(['Refund late orders of May'], ['May'], ['refund_late_orders']), 'refund_late_orders_2')
  assert.equal(name(['Café Größe 12'], []), 'cafe_grosse')
  assert.equal(name(['退款'], []), 'refund')
})
