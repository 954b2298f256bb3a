/** Flows from values: through wrappings and inside texts, and never from small values alone. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '#model'
import { flowsOf } from './flows.ts'

const trace = (...calls: [args: Json, result: Json][]) => ({
  intent: 'Look up the order of "Ann" and tell her about it',
  calls: calls.map(([args, result], at) => ({ id: String(at + 1), tool: `shop:tool_${at}`, args, result })),
})
const shown = (...calls: [args: Json, result: Json][]) =>
  flowsOf(trace(...calls)).map(({ from, to, how }) => `${from.call}${from.path} > ${to.call}${to.path} ${how}`)

const text = (value: Json): Json => ({ content: [{ type: 'text', text: JSON.stringify(value) }], isError: false })

test('flowsOf() names the paths of producer and argument, also through the text content of MCP', () => {
  const order = { items: [{ id: 'ord-4711' }] }
  assert.deepEqual(shown([{ name: 'Ann' }, order], [{ id: 'ord-4711' }, {}]), ['1/items/0/id > 2/id equal'])
  assert.deepEqual(shown([{ name: 'Ann' }, text(order)], [{ id: 'ord-4711' }, {}]), [
    '1/content/0/text/items/0/id > 2/id equal',
  ])
})

test('flowsOf() finds values inside longer texts, in lists, and numbers that became texts', () => {
  assert.deepEqual(shown([{}, { mail: 'ann@example.org' }], [{ body: 'Write to ann@example.org now' }, {}]), [
    '1/mail > 2/body within',
  ])
  assert.deepEqual(shown([{}, { ids: [48213, 77120] }], [{ list: [99999, 77120] }, {}]), ['1/ids/1 > 2/list/1 equal'])
  assert.deepEqual(shown([{}, { id: 48213 }], [{ id: '48213' }, {}]), ['1/id > 2/id converted'])
  assert.deepEqual(shown([{}, { id: 4821 }], [{ note: 'number 148213' }, {}]), [], 'a part of a longer number')
})

test('flowsOf() makes no flow from the envelope or from a small value alone', () => {
  assert.deepEqual(shown([{ a: 'x1' }, text({ n: 'zz-1' })], [{ kind: 'text' }, text({})]), [])
  assert.deepEqual(shown([{ q: 'one' }, { found: true }], [{ q: 'two' }, { found: true }], [{ dry: true }, {}]), [])
  assert.deepEqual(shown([{ q: 'one' }, { page: 1, id: 'x-77' }], [{ id: 'x-77' }, { k: 9 }], [{ limit: 1 }, {}]), [
    '1/id > 2/id equal',
  ])
})

test('flowsOf() takes the nearest of several producers, and one that only echoes for less', () => {
  const twice = shown([{}, { id: 'ord-4711' }], [{}, { id: 'ord-4711' }], [{ id: 'ord-4711' }, {}])
  assert.deepEqual(twice, ['2/id > 3/id equal'])
  const [echo] = flowsOf(trace([{ id: 'ord-4711' }, { id: 'ord-4711' }], [{ id: 'ord-4711' }, {}]))
  const [made] = flowsOf(trace([{}, { id: 'ord-4711' }], [{ id: 'ord-4711' }, {}]))
  assert.ok((echo?.confidence ?? 0) < made!.confidence)
})
